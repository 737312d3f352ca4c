import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { scratch } from "./_cli.ts";
import { follow, hello, post, readAnswer, startServe, waiting, write } from "./_serve.ts";

const question = { messages: [{ role: "user", content: "hi" }] };

describe("a signal", () => {
  test("ends an idle server with 0, also when its agent file has left a timer", async () => {
    const file = write(scratch(), { "agent.ts": `setInterval(() => {}, 1000);\n${hello}` });
    const cli = await startServe([file]);
    await (await post(cli.url, question)).text();
    cli.kill("SIGINT");
    const { code, signal, out } = await cli.ended;
    expect({ code, signal }).toEqual({ code: 0, signal: null });
    expect(out).not.toContain("Waiting");
    expect(out).toMatch(/Stopped\.\n$/);
  });

  test("lets a run in flight end, and takes no new one", async () => {
    const file = write(scratch(), { "agent.ts": waiting });
    const cli = await startServe([file]);
    const response = await post(cli.url, question);
    cli.kill("SIGTERM");
    await cli.waitFor(/Waiting up to 5 s for 1 run to end; Ctrl-C again ends at once\./);
    // No new connection is taken; on one that stands, the answer would be 503.
    await expect(post(cli.url, question).then(({ status }) => status)).rejects.toThrow(
      "fetch failed",
    );
    writeFileSync(join(dirname(file), "go"), "");
    const answer = await readAnswer(response);
    expect(answer.text).toBe("first second");
    expect(answer.events.at(-1)).toMatchObject({ type: "RUN_FINISHED" });
    expect(await cli.ended).toMatchObject({ code: 0 });
  });

  test("ends a run that does not end in time, and its client receives the end", async () => {
    const file = write(scratch(), { "agent.ts": waiting });
    const cli = await startServe([file]);
    const response = await post(cli.url, question);
    cli.kill("SIGTERM");
    const { events } = await readAnswer(response);
    expect(events.at(-1)).toMatchObject({ type: "RUN_ERROR", code: "shutting-down" });
    expect(await cli.ended).toMatchObject({ code: 0 });
  });

  test.for([
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const)("that comes twice (%s) ends at once with %i", async ([signal, code]) => {
    const file = write(scratch(), { "agent.ts": waiting });
    const cli = await startServe([file]);
    const response = await post(cli.url, question);
    await follow(response).until("first");
    cli.kill(signal);
    await cli.waitFor(/Waiting up to 5 s/);
    cli.kill(signal);
    expect(await cli.ended).toMatchObject({ code, signal: null });
    expect(cli.out).not.toContain("Stopped.");
  });
});

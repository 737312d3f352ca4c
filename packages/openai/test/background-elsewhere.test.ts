import { createAgentHandler } from "@holodeck/agui";
import type { AgentHandler } from "@holodeck/agui";
import { silentLogger } from "@holodeck/agui-core";
import type { Json } from "@holodeck/agui-core";
import { readSse } from "@holodeck/agui-testing";
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { openPlace, placeKinds } from "../../agui/test/_places.ts";
import { sourceFlags } from "../../../scripts/test-support/source-flags.ts";
import { openai } from "../src/index.ts";

/** A response that another process makes, and a handler of this one on the same store. */
interface Elsewhere {
  readonly id: string;
  readonly owner: ChildProcess;
  readonly handler: AgentHandler;
  goOn(): void;
}

// On a busy machine a process that does not come to its turn is not dead.
const patientMs = 60_000;
const script = fileURLToPath(new URL("_background-child.ts", import.meta.url));
const timeout = 120_000;

async function start(
  kind: (typeof placeKinds)[number],
  leaseMs: number,
): Promise<Elsewhere | undefined> {
  const place = await openPlace(kind, "background responses");
  if (!place) return undefined;
  onTestFinished(() => place.close());
  const sessions = await place.open({ leaseMs });
  const handler = createAgentHandler(async () => "not asked", {
    logger: silentLogger,
    sessions,
    protocols: [openai()],
  });
  onTestFinished(async () => {
    await handler.close({ timeoutMs: 100 });
    await sessions.close();
  });
  const owner = spawn(process.execPath, [...sourceFlags, script, kind, place.at, String(leaseMs)], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  onTestFinished(() => void owner.kill("SIGKILL"));
  const [line] = (await once(owner.stdout, "data")) as [Buffer];
  return { id: String(line).trim(), owner, handler, goOn: () => owner.stdin.write("go on") };
}

const get = (path: string): Request => new Request(`http://test.local/v1/responses/${path}`);

async function* eventsOf(response: Response): AsyncGenerator<Json> {
  expect(response.status).toBe(200);
  for await (const { data } of readSse(response)) {
    if (data !== "[DONE]") yield JSON.parse(data) as Json;
  }
}

async function all(response: Response): Promise<Json[]> {
  const list = [];
  for await (const event of eventsOf(response)) list.push(event);
  return list;
}

describe.for(placeKinds)("a background response of another process on %s", (kind) => {
  test("is resumed here after any event, and found when it is complete", { timeout }, async (t) => {
    const elsewhere = await start(kind, patientMs);
    if (!elsewhere) return t.skip();
    const { id, goOn, handler } = elsewhere;
    const seen: Json[] = [];
    for await (const event of eventsOf(await handler.fetch(get(`${id}?stream=true`)))) {
      seen.push(event);
      if (event.type === "response.output_text.delta" && event.delta === "one ") goOn();
    }
    expect(seen.at(-1)).toMatchObject({ type: "response.completed" });
    expect(seen.map(({ sequence_number: number }) => number)).toEqual(seen.map((_, at) => at));
    for (const [index] of seen.entries()) {
      const rest = await all(await handler.fetch(get(`${id}?stream=true&starting_after=${index}`)));
      expect(rest).toEqual(seen.slice(index + 1));
    }
    expect(await (await handler.fetch(get(id))).json()).toMatchObject({
      status: "completed",
      output: [{ content: [{ text: "one two three" }] }],
    });
  });

  test("is cancelled from here", { timeout }, async (t) => {
    const elsewhere = await start(kind, patientMs);
    if (!elsewhere) return t.skip();
    const { id, handler } = elsewhere;
    const request = new Request(get(`${id}/cancel`), { method: "POST" });
    expect(await (await handler.fetch(request)).json()).toMatchObject({ id, status: "cancelled" });
  });

  test(
    "has failed when its process was killed, also for those that follow it",
    { timeout },
    async (t) => {
      const elsewhere = await start(kind, 1_500);
      if (!elsewhere) return t.skip();
      const { id, owner, handler } = elsewhere;
      const seen: Json[] = [];
      for await (const event of eventsOf(await handler.fetch(get(`${id}?stream=true`)))) {
        seen.push(event);
        if (event.type === "response.output_text.delta") owner.kill("SIGKILL");
      }
      const failed = { status: "failed", error: { code: "run_lost" } };
      expect(seen.at(-1)).toMatchObject({ type: "response.failed", response: failed });
      expect(await (await handler.fetch(get(id))).json()).toMatchObject({
        ...failed,
        output: [{ content: [{ text: "one " }], status: "incomplete" }],
      });
      const last = seen.length - 2;
      const rest = await all(await handler.fetch(get(`${id}?stream=true&starting_after=${last}`)));
      expect(rest).toEqual([seen.at(-1)]);
      // The conversation goes on here, after what was lost.
      const next = new Request("http://test.local/v1/responses", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ input: "Again", previous_response_id: id }),
      });
      expect(await (await handler.fetch(next)).json()).toMatchObject({
        status: "completed",
        previous_response_id: id,
      });
    },
  );
});

import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { BaseEvent } from "@holodeck/agui-core";
import { afterEach, describe, expect, test } from "vitest";
import { createAgentHandler } from "../src/index.ts";
import { eventsOf, memoryLogger, post, say } from "./_helpers.ts";
import { openPlace, placeKinds } from "./_places.ts";
import { framesOf } from "./_resume-client.ts";
import { sourceFlags } from "../../../scripts/test-support/source-flags.ts";

const leaseMs = 1_000;
const key = { principal: "", threadId: "t" };

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

async function startOwner(kind: string, at: string, flag: string): Promise<[ChildProcess, string]> {
  const script = fileURLToPath(new URL("_zombie-child.ts", import.meta.url));
  const args = [...sourceFlags, script];
  const child = spawn(process.execPath, [...args, kind, at, String(leaseMs), flag], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  closers.push(() => child.kill("SIGKILL"));
  for await (const chunk of child.stdout) {
    return [child, `http://127.0.0.1:${Number(String(chunk))}/agui`];
  }
  throw new Error("The owner did not start.");
}

const body = (runId: string, text: string): object => ({
  threadId: "t",
  runId,
  messages: [{ id: `q-${runId}`, ...say(text) }],
  protocolVersion: "1.0",
});

const cases = placeKinds.flatMap((kind) =>
  (["is stopped", "does not reach its event loop"] as const).map((how) => [kind, how] as const),
);

describe.each(cases)("a process on %s that %s for longer than its lease", (kind, how) => {
  test(
    "overwrites nothing of the next run, and its client receives run-lost",
    { timeout: 60_000 },
    async ({ skip }) => {
      const folder = mkdtempSync(join(tmpdir(), "agui-zombie-"));
      closers.push(() => rmSync(folder, { recursive: true, force: true }));
      const flag = join(folder, "go");
      const place = await openPlace(kind, "zombie owners");
      if (!place) return skip();
      closers.push(() => place.close());
      const store = await place.open({ leaseMs });
      const [child, url] = await startOwner(kind, place.at, flag);
      const next = createAgentHandler(
        async function* () {
          yield "new answer";
        },
        { sessions: store, history: "server", logger: memoryLogger() },
      );
      closers.push(() => next.close());

      const request = post(body("r1", "old question"));
      const { headers } = request;
      const first = await fetch(url, { method: "POST", headers, body: await request.text() });
      const frames = framesOf(first);
      const received: BaseEvent[] = [];
      while (received.at(-1)?.type !== "CUSTOM") received.push((await frames.next()).value!.event);
      if (how === "is stopped") child.kill("SIGSTOP");
      else child.stdin!.write("block\n");

      await expect
        .poll(async () => (await next.fetch(post(body("r2", "new question")))).text(), {
          timeout: 30_000,
          interval: 100,
        })
        .toContain("RUN_FINISHED");
      const before = await store.get(key);
      expect(before).toMatchObject({ lastRunId: "r2" });
      expect(before?.messages.map(({ content }) => content)).toEqual([
        "old question",
        "old answer of r1",
        "new question",
        "new answer",
      ]);

      writeFileSync(flag, "");
      child.kill("SIGCONT");
      for await (const { event } of frames) received.push(event);
      expect(received.at(-1)).toMatchObject({ type: "RUN_ERROR", code: "run-lost" });
      expect(received.filter(({ type }) => /^RUN_(ERROR|FINISHED)$/.test(type))).toHaveLength(1);
      // Whatever the process had under way is done when it has answered some more requests.
      for (let again = 0; again < 3; again++) {
        const replay = await eventsOf(await fetch(`${url}/runs/r1/events?offset=0`));
        expect(replay.at(-1)).toMatchObject({ type: "RUN_ERROR", code: "run-lost" });
      }
      expect(await store.get(key)).toEqual(before);
    },
  );
});

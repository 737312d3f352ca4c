import { HttpAgent } from "@ag-ui/client";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { serve } from "@holodeck/agui-node";
import { expect, onTestFinished, test } from "vitest";
import { createAgentHandler } from "../src/index.ts";
import { memoryLogger } from "./_helpers.ts";
import { openPlace, placeKinds } from "./_places.ts";
import { agentNames, createRefunding, wish } from "./_refunds.ts";
import { sourceFlags } from "../../../scripts/test-support/source-flags.ts";

type Loose = any;

const leaseMs = 1_500;

/** A server process. `next` is the next line that it prints. */
function spawnServer(parts: readonly string[]) {
  const script = fileURLToPath(new URL("_approval-child.ts", import.meta.url));
  const flags = [...sourceFlags, script];
  const stdio = ["ignore", "pipe", "inherit"] as const;
  const child = spawn(process.execPath, [...flags, ...parts], { stdio: [...stdio] });
  onTestFinished(() => void child.kill("SIGKILL"));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    next: async (): Promise<string> => String((await lines.next()).value),
    async kill() {
      const exited = once(child, "exit");
      child.kill("SIGKILL");
      await exited;
    },
  };
}

const forms = ["last message", "call again", "loop"].flatMap((word) =>
  agentNames.filter((name) => name.includes(word)),
);
const cases = forms.flatMap((form) =>
  (["client", "server"] as const).map((history) => ({
    form,
    history,
    threadId: `${form}, ${history}`.replaceAll(/\W+/g, "-"),
  })),
);

async function answer(url: string, body: object): Promise<Response> {
  return fetch(`${url}/agui`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
}

/** A person who has said yes to a refund; `cut` resolves when the server is gone. */
async function approve(url: string, threadId: string) {
  const client = new HttpAgent({ url: `${url}/agui`, threadId });
  const asked: Loose[] = [];
  client.addMessage({ id: "u", role: "user", content: wish });
  await client.runAgent({}, { onRunFinishedEvent: ({ event }) => void asked.push(event) });
  const { messages } = client;
  const { id, toolCallId } = asked[0].outcome.interrupts[0];
  const resume = [{ interruptId: id, status: "resolved", payload: { approved: true } }];
  const body = { threadId, runId: `${threadId}-2`, messages, resume };
  const cut = answer(url, body)
    .then((response) => response.text())
    .catch(() => undefined);
  return { messages, body, toolCallId, cut };
}

test.for(placeKinds)(
  "a process that is killed in the middle of refunds leaves an error for each, and none is made again: %s",
  { timeout: 60_000 },
  async (kind, { skip }) => {
    const folder = mkdtempSync(join(tmpdir(), "agui-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const place = await openPlace(kind, "approval-crash");
    if (!place) return skip();
    onTestFinished(() => place.close());
    const sessions = await place.open({ leaseMs });
    const ledger = join(folder, "ledger");
    writeFileSync(ledger, "");
    const parts = [kind, place.at, ledger, String(leaseMs)];
    const first = spawnServer([...parts, ...cases.map((one) => JSON.stringify(one))]);
    const urls = JSON.parse(await first.next()) as string[];
    const people = await Promise.all(
      cases.map(({ threadId }, index) => approve(urls[index]!, threadId)),
    );
    for (const _ of cases) expect(await first.next()).toBe("refunding");
    await first.kill();
    await Promise.all(people.map(({ cut }) => cut));

    for (const [index, { form, history, threadId }] of cases.entries()) {
      const { messages: shown, body, toolCallId } = people[index]!;
      const onRun = () => appendFileSync(ledger, `${threadId}\n`);
      const { agent, tools, seen } = createRefunding(form, { onRun });
      const options = { sessions, history, tools: [...tools], logger: memoryLogger() };
      // The next run waits until the lease of the lost one has run out.
      const handler = createAgentHandler(agent, { ...options, onBusy: "queue" });
      const { url, close } = await serve(handler, { port: 0, signals: false });
      onTestFinished(() => close());
      // A reader that comes before the next run takes nothing from it.
      if (index % 2 === 0) {
        const find = () => handler.sessions.runs.find("", `${threadId}-2`);
        await expect.poll(async () => (await find())?.status, { timeout: 10_000 }).toBe("lost");
      }
      const again = await answer(url, { ...body, runId: `${threadId}-3` });
      expect(await again.json()).toMatchObject({ status: 409, code: "unknown-interrupt" });
      // As after a reload: another client with the same messages.
      const client = new HttpAgent({ url: `${url}/agui`, threadId, initialMessages: shown });
      client.addMessage({ id: "u2", role: "user", content: "What happened?" });
      await client.runAgent();

      const lost = { role: "tool", toolCallId, content: expect.stringContaining("run-lost") };
      const { messages } = seen[0]!;
      const call = messages.findIndex((one) => one.role === "assistant" && one.toolCalls?.length);
      expect(messages[call + 1]).toMatchObject({ ...lost, metadata: { error: "run-lost" } });
      expect(messages.at(-1)).toMatchObject({ content: "What happened?" });
      const session = (await sessions.get({ principal: "", threadId }))!;
      const resultsIn = (list: readonly Loose[]) =>
        list.filter((one) => one.role === "tool" && one.toolCallId === toolCallId);
      expect(resultsIn(session.messages)).toMatchObject([lost]);
      if (history === "client") expect(resultsIn(client.messages)).toMatchObject([lost]);
      expect(session.active).toBeUndefined();
    }
    expect(readFileSync(ledger, "utf8").trim().split("\n").toSorted()).toEqual(
      cases.map(({ threadId }) => threadId).toSorted(),
    );
  },
);

import { toNodeHandler } from "@holodeck/agui-node";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { prepareClients } from "../../copilotkit/test/_client.ts";
import { createAgentHandler } from "../src/index.ts";
import type { AgentHandler, AgentHandlerOptions, Message, RunAgentInput } from "../src/index.ts";
import { clientKinds } from "./_approval-clients.ts";
import { memoryLogger } from "./_helpers.ts";
import { agentNames, args, createRefunding, refunded, wish } from "./_refunds.ts";
import type { Refunding } from "./_refunds.ts";
import { storeKinds } from "./_shared-stores.ts";
import type { SharedStore } from "./_shared-stores.ts";

prepareClients();

/** One address; requests go to the handler that is `current`. */
async function serveTwo(one: AgentHandler, two: AgentHandler, isShared: boolean) {
  const [first, second] = [toNodeHandler(one), toNodeHandler(two)];
  let current = first;
  const server = createServer((request, response) => current(request, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(async () => {
    server.close();
    server.closeAllConnections();
    // A handler closes its store, which another test may need.
    if (!isShared) await Promise.all([one, two].map((handler) => handler.close({ timeoutMs: 0 })));
  });
  return {
    root: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Later requests go to the second one. */
    change: () => void (current = second),
  };
}

async function begin(refunding: Refunding, store?: SharedStore, options: AgentHandlerOptions = {}) {
  const logger = memoryLogger();
  const { agent, tools } = refunding;
  const more = { tools: [...tools], logger, ...options };
  const one = createAgentHandler(agent, { ...more, ...(store && { sessions: store.owner }) });
  const sessions = store?.other ?? one.sessions;
  const two = createAgentHandler(agent, { ...more, sessions });
  return { ...(await serveTwo(one, two, store !== undefined)), logger, sessions };
}

/** The call of the tool and what follows it, as the agent was given them. */
function callIn({ messages }: RunAgentInput): { call: unknown; next: Message | undefined } {
  const place = messages.findIndex((one) => one.role === "assistant" && one.toolCalls?.length);
  const message = messages[place] as { toolCalls?: { function: unknown }[] } | undefined;
  return { call: message?.toolCalls?.[0]?.function, next: messages[place + 1] };
}

const denied: unknown = expect.stringContaining("approval-denied");

function complaints({ records }: ReturnType<typeof memoryLogger>): unknown[] {
  return records.filter(({ level }) => level === "warn" || level === "error");
}

const made = { name: "refund", arguments: JSON.stringify(args) };

const newest = clientKinds.filter(({ name }) =>
  ["@ag-ui/client 1.0.0", "CopilotKit 1.75.0 over rest", "useChat of AI SDK 7"].includes(name),
);
const [newcomer] = agentNames;
const pairs = [
  ...agentNames.flatMap((agent) => newest.map((client) => ({ agent, client }))),
  ...clientKinds
    .filter((client) => !newest.includes(client))
    .map((client) => ({ agent: newcomer!, client })),
].map(({ agent, client }) => ({ agent, client, name: client.name }));

describe.for(pairs)("a refund that $agent asks for, over $name", ({ agent, client }) => {
  test("is made once after a yes, by another server than the one that asked", async () => {
    const refunding = createRefunding(agent);
    const { root, change, logger } = await begin(refunding);
    const talk = await client.open(root);
    await talk.say(wish);
    expect(refunding.made).toEqual([]);
    change();
    await talk.answer(true);
    expect(refunding.made).toEqual([args]);
    expect(talk.results()).toEqual([refunded]);
    const { call, next } = callIn(refunding.seen.at(-1)!);
    expect(call).toEqual(made);
    expect(next).toMatchObject({ role: "tool", content: refunded });
    await talk.say("Thanks.");
    expect(refunding.made).toEqual([args]);
    expect(complaints(logger)).toEqual([]);
  });

  test("is not made after a no, which the agent and the client see", async () => {
    const refunding = createRefunding(agent);
    const { root, change } = await begin(refunding);
    const talk = await client.open(root);
    await talk.say(wish);
    change();
    await talk.answer(false);
    expect(refunding.made).toEqual([]);
    expect(talk.results()).toEqual([denied]);
    expect(callIn(refunding.seen.at(-1)!).next).toMatchObject({ role: "tool", content: denied });
  });
});

describe.for(storeKinds)("a refund on a thread in $name", (kind) => {
  let store: SharedStore | undefined;
  beforeAll(async () => {
    store = await kind.open("refunds");
  });
  afterAll(() => store?.close());

  const forms = agentNames.filter((name) => name === newcomer || name.includes("loop"));

  test.for(forms)("is made once, however often its answer is sent: %s", async (form, { skip }) => {
    if (!store) return skip();
    const refunding = createRefunding(form);
    const { root, change } = await begin(refunding, store);
    const talk = await newest[0]!.open(root);
    await talk.say(wish);
    change();
    const answers = await Promise.allSettled([true, true, true].map(() => talk.answer(true)));
    expect(answers.filter(({ status }) => status === "fulfilled").length).toBeLessThanOrEqual(1);
    await expect(talk.answer(true)).rejects.toThrow(/unknown-interrupt/);
    await expect(talk.answer(false)).rejects.toThrow(/unknown-interrupt/);
    expect(refunding.made).toEqual([args]);
  });

  test.for([true, false])("is decided by the first answer: %s", async (isApproved, { skip }) => {
    if (!store) return skip();
    const refunding = createRefunding(newcomer!);
    const { root, change } = await begin(refunding, store);
    const talk = await newest[0]!.open(root);
    await talk.say(wish);
    change();
    await talk.answer(isApproved);
    await expect(talk.answer(!isApproved)).rejects.toThrow(/unknown-interrupt/);
    expect(refunding.made).toEqual(isApproved ? [args] : []);
  });
});

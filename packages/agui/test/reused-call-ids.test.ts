import type { AgentFunction, AgentLike, BaseEvent, Message } from "@holodeck/agui-core";
import { serve } from "@holodeck/agui-node";
import { describe, expect, onTestFinished, test } from "vitest";
import { prepareClients } from "../../copilotkit/test/_client.ts";
import { createToolLoopAgent, defineTool } from "../../tools/src/index.ts";
import { z } from "zod";
import { createAgentHandler, redact } from "../src/index.ts";
import type { AgentHandler, AgentHandlerOptions, ServerTool } from "../src/index.ts";
import { clientKinds } from "./_approval-clients.ts";
import { eventsOf, memoryLogger, post } from "./_helpers.ts";
import { args, createRefunds, refunded, wish } from "./_refunds.ts";

prepareClients();

const toolCallId = "call_0";
const callEvents = (toolCallName: string, input: object, rest: object = {}): object[] => [
  { type: "TOOL_CALL_START", toolCallId, toolCallName, ...rest },
  { type: "TOOL_CALL_ARGS", toolCallId, delta: JSON.stringify(input) },
  { type: "TOOL_CALL_END", toolCallId },
];

const callsIn = (messages: readonly Message[]): string[] =>
  messages.flatMap((one) =>
    one.role === "assistant" ? (one.toolCalls ?? []).map(({ id }) => id) : [],
  );
const resultsIn = (messages: readonly Message[]): string[] =>
  messages.flatMap((one) => (one.role === "tool" ? one.toolCallId : []));

/** Every call of a conversation has an id that no other has, and one result, in order. */
function expectPairs(messages: readonly Message[], count: number, calls = callsIn(messages)): void {
  expect(calls).toHaveLength(count);
  expect(new Set(calls).size).toBe(count);
  expect(resultsIn(messages)).toEqual(calls);
}

const modelOf =
  (seen: Message[][]): AgentFunction =>
  ({ messages }) => {
    seen.push(structuredClone(messages));
    return (messages.at(-1)?.role === "user"
      ? callEvents("refund", args)
      : ["Done."]) as unknown as string[];
  };

type Form = (seen: Message[][], refund: ServerTool) => AgentLike;

const approvalForms: Readonly<Record<string, Form>> = {
  "an agent that calls the tool by callTools": (seen) =>
    async function* (input, context) {
      const events = modelOf(seen)(input, context) as unknown as string[];
      yield* events;
      if (events.length > 1) {
        await context.callTools([{ id: toolCallId, name: "refund", args }]);
      }
    },
  "an agent that makes its call in every run": (seen) =>
    async function* (input, context) {
      seen.push(structuredClone(input.messages));
      yield* callEvents("refund", args) as unknown as string[];
      const [made] = await context.callTools([{ id: toolCallId, name: "refund", args }]);
      if (made!.status === "done") yield "Done.";
    },
  "a tool loop": (seen) => createToolLoopAgent({ generate: modelOf(seen) }),
  "a tool loop that brings the tool": (seen, refund) =>
    createToolLoopAgent({ generate: modelOf(seen), tools: [refund] }),
};

describe.for(Object.keys(approvalForms))("approved calls of one id, of %s,", (form) => {
  const isOwn = form.includes("brings");
  for (const hasMiddleware of [false, true]) {
    const where = hasMiddleware ? "behind middleware " : "";
    test.for(clientKinds)(`are made once each ${where}for $name`, async (kind) => {
      const refunds = createRefunds();
      const seen: Message[][] = [];
      const handler = createAgentHandler(approvalForms[form]!(seen, refunds.tool), {
        tools: isOwn ? [] : [refunds.tool],
        middleware: hasMiddleware ? [redact()] : [],
        logger: memoryLogger(),
      });
      const server = await serve(handler, { port: 0, host: "127.0.0.1" });
      onTestFinished(() => server.close());
      const talk = await kind.open(`http://127.0.0.1:${server.port}`);
      for (let turn = 1; turn <= 3; turn++) {
        await talk.say(wish);
        expect(refunds.made).toHaveLength(turn - 1);
        await talk.answer(true);
        expect(refunds.made).toEqual(Array.from({ length: turn }, () => args));
        expect(talk.results()).toEqual(Array.from({ length: turn }, () => refunded));
        const thread = await handler.sessions.get({ principal: "", threadId: talk.threadId });
        // CopilotKit 1.60 sends a call twice that its agent has started twice.
        expectPairs(thread!.messages, turn, [...new Set(callsIn(thread!.messages))]);
        expect(thread!.pending).toEqual([]);
      }
      expectPairs(seen.at(-1)!, 3, [...new Set(callsIn(seen.at(-1)!))]);
    });
  }
});

/** A conversation over AG-UI with a client that sends back what it has. */
function converse(agent: AgentLike, options: AgentHandlerOptions = {}) {
  const logger = memoryLogger();
  const handler: AgentHandler = createAgentHandler(agent, { logger, ...options });
  let messages: readonly Message[] = [];
  let runs = 0;
  return {
    logger,
    handler,
    get messages() {
      return messages;
    },
    async run(...added: Message[]): Promise<BaseEvent[]> {
      const sent = [...messages, ...added];
      const runId = `r${++runs}`;
      const events = await eventsOf(
        await handler.fetch(post({ threadId: "t", runId, messages: sent })),
      );
      const session = await handler.sessions.get({ principal: "", threadId: "t" });
      messages = session!.messages;
      return events;
    },
  };
}

const user = (id: string): Message => ({ id, role: "user", content: "go" });

describe("a server tool whose calls have one id", () => {
  const count = (): { tool: ServerTool; seen: number[] } => {
    const seen: number[] = [];
    const tool = defineTool({
      name: "count",
      description: "Counts what it is given.",
      parameters: z.object({ n: z.number() }),
      execute: ({ n }) => {
        seen.push(n);
        return `counted ${n}`;
      },
    });
    return { tool, seen };
  };

  test.for(["a tool loop", "callTools", "its own results"])(
    "is called in each step of each turn by %s",
    async (form) => {
      const { tool, seen } = count();
      const asked: Message[][] = [];
      let n = 0;
      const generate: AgentFunction = ({ messages }) => {
        asked.push(structuredClone(messages));
        const turn = messages.slice(messages.findLastIndex(({ role }) => role === "user"));
        const isDone = turn.filter(({ role }) => role === "tool").length === 2;
        return (isDone ? ["Done."] : callEvents("count", { n: ++n })) as unknown as string[];
      };
      const agents: Record<string, AgentLike> = {
        "a tool loop": createToolLoopAgent({ generate }),
        async *callTools(_input, { callTools }) {
          for (let step = 0; step < 2; step++) {
            yield* callEvents("count", { n: ++n }) as unknown as string[];
            await callTools([{ id: toolCallId, name: "count", args: { n } }]);
          }
        },
        async *"its own results"() {
          for (let step = 0; step < 2; step++) {
            yield* callEvents("count", { n: ++n }) as unknown as string[];
            const messageId = crypto.randomUUID();
            const content = `counted ${n}`;
            seen.push(n);
            yield { type: "TOOL_CALL_RESULT", messageId, toolCallId, content } as never;
          }
        },
      };
      const talk = converse(agents[form]!, { tools: form.startsWith("its") ? [] : [tool] });
      for (const turn of [1, 2, 3]) {
        await talk.run(user(`u${turn}`));
        expectPairs(talk.messages, turn * 2);
      }
      expect(seen).toEqual([1, 2, 3, 4, 5, 6]);
      const results = talk.messages.flatMap((one) => (one.role === "tool" ? [one.content] : []));
      expect(results).toEqual(seen.map((one) => `counted ${one}`));
      for (const messages of asked) expectPairs(messages, resultsIn(messages).length);
    },
  );

  test("is logged once for each run, and ends a strict one", async () => {
    const agent: AgentFunction = async function* () {
      for (let step = 0; step < 3; step++) {
        yield* callEvents("look", {}) as unknown as string[];
        yield {
          type: "TOOL_CALL_RESULT",
          messageId: crypto.randomUUID(),
          toolCallId,
          content: "ok",
        } as never;
      }
    };
    const talk = converse(agent);
    await talk.run(user("u1"));
    const repaired = talk.logger.records.filter((record) => "repairs" in record);
    expect(repaired.map(({ repairs }) => repairs)).toEqual([{ "reused-call": 2 }]);
    const strict = await converse(agent, { strict: true }).run(user("u1"));
    expect(strict.at(-1)).toMatchObject({ type: "RUN_ERROR", code: "protocol-violation" });
  });
});

/** What a server behind a gateway keeps of a conversation, under ids that it uses again. */
function createUpstream(how: "events" | "snapshots" | "only snapshots"): AgentFunction {
  const told: Message[] = [];
  const replay = (): object[] =>
    told.flatMap((one): object[] => {
      if (one.role === "tool") {
        const { id: messageId, toolCallId: callId, content } = one;
        return [{ type: "TOOL_CALL_RESULT", messageId, toolCallId: callId, content }];
      }
      if (one.role !== "assistant") return [];
      return callEvents("look", {}, { parentMessageId: one.id });
    });
  return async function* ({ messages }) {
    const last = messages.at(-1)!;
    const before = how === "events" ? replay() : [];
    // The result of the call that waited is its own.
    if (last.role === "tool") told.push({ ...last, toolCallId });
    else told.push(last);
    yield* before as never[];
    if (last.role === "user") {
      const id = `m${told.length}`;
      const call = {
        id: toolCallId,
        type: "function" as const,
        function: { name: "look", arguments: "{}" },
      };
      told.push({ id, role: "assistant", toolCalls: [call] });
      if (how !== "only snapshots")
        yield* callEvents("look", {}, { parentMessageId: id }) as never[];
    }
    if (how !== "events")
      yield { type: "MESSAGES_SNAPSHOT", messages: structuredClone(told) } as never;
  };
}

describe("a gateway to a server that uses ids again", () => {
  test.for(["events", "snapshots", "only snapshots"] as const)(
    "keeps the calls of the thread apart from those of the run when it replays all as %s",
    async (how) => {
      const talk = converse(createUpstream(how));
      const ids: string[] = [];
      for (const turn of [1, 2, 3]) {
        await talk.run(user(`u${turn}`));
        const calls = callsIn(talk.messages);
        // The earlier ones are what they were.
        expect(calls.slice(0, -1)).toEqual(ids);
        ids.push(calls.at(-1)!);
        expect(new Set(ids).size).toBe(turn);
        const session = await talk.handler.sessions.get({ principal: "", threadId: "t" });
        expect(session!.pending.map(({ id }) => id)).toEqual([ids.at(-1)]);
        const content = `seen ${turn}`;
        await talk.run({ id: `t${turn}`, role: "tool", toolCallId: ids.at(-1)!, content });
        // AG-UI's clients add a result for each event: a replayed one is there twice.
        expect([...new Set(resultsIn(talk.messages))]).toEqual(ids);
      }
      const dropped = talk.logger.records.filter((record) => "dropped" in record);
      // The copies of what was replayed as events are dropped, as every second result is.
      if (how !== "events") expect(dropped).toEqual([]);
      const contents = talk.messages.flatMap((one) => (one.role === "tool" ? [one.content] : []));
      expect([...new Set(contents)]).toEqual(["seen 1", "seen 2", "seen 3"]);
    },
  );
});

test("a question about a call under one id is answered under it, each time", async () => {
  const agent: AgentFunction = async ({ resume }, { emit }) => {
    if (resume) {
      await emit.toolResult("call-7", "Deleted.");
      return;
    }
    const id = emit.toolCall("deleteAccount", { id: 7 }, { id: "call-7" });
    emit.interrupt({ reason: "tool_call", toolCallId: id, message: "Really?" });
  };
  const handler = createAgentHandler(agent, { logger: memoryLogger() });
  const thread = async () => (await handler.sessions.get({ principal: "", threadId: "t" }))!;
  for (const turn of [1, 2, 3]) {
    const before = turn === 1 ? [] : (await thread()).messages;
    const messages = [...before, user(`u${turn}`)];
    const input = { threadId: "t", runId: `ask-${turn}`, messages };
    await eventsOf(await handler.fetch(post(input)));
    const asked = await thread();
    const [pending] = asked.pending;
    expect(pending!.value.toolCallId).toBe(callsIn(asked.messages).at(-1));
    const resume = [{ interruptId: pending!.id, status: "resolved", payload: { approved: true } }];
    const answer = { threadId: "t", runId: `do-${turn}`, messages: asked.messages, resume };
    await eventsOf(await handler.fetch(post(answer)));
    expectPairs((await thread()).messages, turn);
  }
});

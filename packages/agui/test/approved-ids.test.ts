import { serve } from "@holodeck/agui-node";
import type { AgentFunction, AgentLike, Message, RunAgentInput } from "@holodeck/agui-core";
import { afterEach, describe, expect, test } from "vitest";
import { prepareClients } from "../../copilotkit/test/_client.ts";
import { createToolLoopAgent } from "../../tools/src/index.ts";
import { createAgentHandler } from "../src/index.ts";
import type { ServerTool } from "../src/index.ts";
import { clientKinds } from "./_approval-clients.ts";
import { memoryLogger } from "./_helpers.ts";
import { args, createRefunds, refunded, wish } from "./_refunds.ts";

prepareClients();

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

/** Ids that clients cannot send back, as gateways to models make them. */
const ids = [
  ["2,000 characters", "x".repeat(2_000)],
  ["half a surrogate pair", "half a pair \ud800"],
  ["nothing", ""],
] as const;

const toEvents = (toolCallId: string): object[] => [
  { type: "TOOL_CALL_START", toolCallId, toolCallName: "refund" },
  { type: "TOOL_CALL_ARGS", toolCallId, delta: JSON.stringify(args) },
  { type: "TOOL_CALL_END", toolCallId },
];

/** Makes the call under that id when the user has spoken, and answers when a result is there. */
const modelOf =
  (toolCallId: string, seen: RunAgentInput[]): AgentFunction =>
  (input) => {
    seen.push(input);
    const isAsked = input.messages.at(-1)?.role === "user";
    return (isAsked ? toEvents(toolCallId) : ["Done."]) as string[];
  };

interface Parts {
  readonly callId: string;
  readonly seen: RunAgentInput[];
  readonly refund: ServerTool;
}

const forms: Readonly<Record<string, (parts: Parts) => AgentLike>> = {
  "an agent that calls it by callTools": ({ callId, seen }) =>
    async function* (input, context) {
      const events = modelOf(callId, seen)(input, context) as string[];
      yield* events;
      if (events.length > 1) await context.callTools([{ id: callId, name: "refund", args }]);
    },
  "a tool loop": ({ callId, seen }) => createToolLoopAgent({ generate: modelOf(callId, seen) }),
  "a tool loop that brings the tool": ({ callId, seen, refund }) =>
    createToolLoopAgent({ generate: modelOf(callId, seen), tools: [refund] }),
};

const callsIn = (messages: readonly Message[]): string[] =>
  messages.flatMap((one) =>
    one.role === "assistant" ? (one.toolCalls ?? []).map(({ id }) => id) : [],
  );
const resultsIn = (messages: readonly Message[]): string[] =>
  messages.flatMap((one) => (one.role === "tool" ? one.toolCallId : []));

for (const [what, callId] of ids) {
  describe.for(Object.keys(forms))(`an approved call with an id of ${what}, of %s,`, (form) => {
    test.for(clientKinds)("is one call with one result for $name", async (kind) => {
      const refunds = createRefunds();
      const seen: RunAgentInput[] = [];
      const isOwn = form.includes("brings");
      const handler = createAgentHandler(forms[form]!({ callId, seen, refund: refunds.tool }), {
        tools: isOwn ? [] : [refunds.tool],
        logger: memoryLogger(),
      });
      const server = await serve(handler, { port: 0, host: "127.0.0.1" });
      closers.push(() => server.close());
      const talk = await kind.open(`http://127.0.0.1:${server.port}`);
      await talk.say(wish);
      expect(refunds.made).toEqual([]);
      await talk.answer(true);
      expect(refunds.made).toEqual([args]);
      const { messages } = seen.at(-1)!;
      expect(callsIn(messages)).toHaveLength(1);
      expect(resultsIn(messages)).toEqual(callsIn(messages));
      expect(talk.results()).toEqual([refunded]);
      const thread = await handler.sessions.get({ principal: "", threadId: talk.threadId });
      expect(callsIn(thread!.messages)).toHaveLength(1);
      expect(resultsIn(thread!.messages)).toEqual(callsIn(thread!.messages));
    });
  });
}

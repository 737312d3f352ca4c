import { createAgentHandler } from "@holodeck/agui";
import { silentLogger } from "@holodeck/agui-core";
import type { AgentEvent, RunAgentInput } from "@holodeck/agui-core";
import { vercel } from "@holodeck/agui-vercel";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { validRun } from "../../core/test/guard-valid-runs.ts";
import { randomRun } from "../../core/test/random-run.ts";
import { createChat, sdks } from "./_chat.ts";
import type { Chat, Loose } from "./_chat.ts";

// To look longer: VERCEL_RUNS=1000.
const numRuns = Number(process.env.VERCEL_RUNS ?? 12);

type Ending = "finished" | "failed" | "asking";

const ending = fc.constantFrom<Ending>("finished", "finished", "failed", "asking");

const answered = [
  { type: "TOOL_CALL_START", toolCallId: "last", toolCallName: "look" },
  { type: "TOOL_CALL_END", toolCallId: "last" },
  { type: "TOOL_CALL_RESULT", messageId: "last-result", toolCallId: "last", content: "ok" },
];

/**
 * A valid run with one of the ways to end: in some, calls are left to the client; some break off in the
 * middle, and some right after a tool has answered.
 */
const anyRun = fc
  .record({
    said: fc.oneof(
      validRun.map((events) => events.slice(1, -1)),
      randomRun,
    ),
    dice: fc.infiniteStream(fc.nat(3)),
    leavesCalls: fc.boolean(),
    until: fc.oneof(fc.constant(Infinity), fc.nat(40)),
    more: fc.constantFrom([], answered),
    end: ending,
  })
  .map(({ said, dice, leavesCalls, until, more, end }) => ({
    events: [
      ...said
        .slice(0, until)
        .filter(
          ({ type }) => !leavesCalls || type !== "TOOL_CALL_RESULT" || dice.next().value !== 0,
        ),
      ...more,
    ],
    end,
  }));

interface Told {
  readonly text: Map<string, string>;
  readonly reasoning: Map<string, string>;
  readonly calls: Map<string, { answered: boolean }>;
}

/** What the client must end up with, told from the events alone. */
function expectation(events: readonly Loose[]): Told {
  const told: Told = { text: new Map(), reasoning: new Map(), calls: new Map() };
  const roles = new Map<string, string>();
  const add = (to: Map<string, string>, id: string, more: string): unknown =>
    more === "" ? undefined : to.set(id, (to.get(id) ?? "") + more);
  for (const event of events) {
    if (event.type === "TEXT_MESSAGE_START") roles.set(event.messageId, event.role ?? "assistant");
    else if (event.type === "TEXT_MESSAGE_CONTENT" && roles.get(event.messageId) === "assistant") {
      add(told.text, event.messageId, event.delta);
    } else if (event.type === "REASONING_MESSAGE_CONTENT") {
      add(told.reasoning, event.messageId, event.delta);
    } else if (event.type === "TOOL_CALL_START") {
      if (!told.calls.has(event.toolCallId)) told.calls.set(event.toolCallId, { answered: false });
    } else if (event.type === "TOOL_CALL_RESULT") {
      told.calls.set(event.toolCallId, { answered: true });
    }
  }
  return told;
}

function shownIn(message: Loose): Told {
  const told: Told = { text: new Map(), reasoning: new Map(), calls: new Map() };
  for (const part of message?.parts ?? []) {
    if (part.type === "text" || part.type === "reasoning") {
      const { messageId } = part.providerMetadata.agui;
      const shown = part.type === "text" ? told.text : told.reasoning;
      if (part.text !== "") shown.set(messageId, (shown.get(messageId) ?? "") + part.text);
      expect(part.state).toBe("done");
    } else if (part.type.startsWith("tool-")) {
      expect(told.calls.has(part.toolCallId), `${part.toolCallId} twice`).toBe(false);
      told.calls.set(part.toolCallId, { answered: part.state === "output-available" });
    }
  }
  return told;
}

describe.for(sdks)("AI SDK $name", (sdk) => {
  const { lastAssistantMessageIsCompleteWithToolCalls } = sdk.module;

  test("ends any run with the right status and text, and sends nothing again", async () => {
    await fc.assert(
      fc.asyncProperty(anyRun, async ({ events, end }) => {
        const inputs: RunAgentInput[] = [];
        const handler = createAgentHandler(
          async function* (input, { emit }) {
            inputs.push(input);
            if (inputs.length > 1) return;
            yield* events as unknown as AgentEvent[];
            if (end === "failed") throw new Error("boom");
            if (end === "asking") emit.interrupt({ id: "ask", reason: "confirmation" });
          },
          { protocols: [vercel({ sdkVersion: sdk.major })], logger: silentLogger },
        );
        const client: Chat = createChat(sdk, {
          api: "http://test.local/api/chat",
          fetch: (url: string, init: RequestInit) => handler.fetch(new Request(url, init)),
          // A client that goes round in circles would do so for ever.
          sendAutomaticallyWhen: (asked: Loose) =>
            client.posted.length < 3 && lastAssistantMessageIsCompleteWithToolCalls(asked),
        });
        await client.chat.sendMessage({ text: "hi" });
        await client.until(({ status }) => status === "ready" || status === "error");
        expect(client.chat.status).toBe(end === "failed" ? "error" : "ready");
        expect(client.posted).toHaveLength(1);
        expect(client.messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
        const snapshots = events.some(({ type }) => type === "MESSAGES_SNAPSHOT");
        const shown = shownIn(client.last);
        const expected = expectation(events);
        if (snapshots) {
          // A snapshot may add what was never streamed; what was streamed stays.
          for (const [id, text] of expected.text) expect(shown.text.get(id)).toBe(text);
        } else {
          expect(shown).toEqual(expected);
        }
        // What came back is what was said.
        await client.chat.sendMessage({ text: "again" });
        expect(inputs).toHaveLength(2);
        for (const [id, text] of expected.text) {
          expect(inputs[1]!.messages).toContainEqual(
            expect.objectContaining({ id, role: "assistant", content: text }),
          );
        }
        await handler.close();
      }),
      { numRuns },
    );
  });
});

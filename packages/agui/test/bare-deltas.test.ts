import { createDeltaFrames, EventType, isBareDelta } from "@holodeck/agui-core";
import type { BaseEvent, LogEntry } from "@holodeck/agui-core";
import { sizeOfEvent } from "@holodeck/agui-core/internal";
import { throttleDeltas } from "@holodeck/agui-middleware";
import { aguiSseEncoder } from "@holodeck/agui-protocol";
import { memorySessions } from "@holodeck/agui-sessions";
import { readEvents } from "@holodeck/agui-testing";
import { describe, expect, test } from "vitest";
import { createAgentHandler } from "../src/index.ts";
import { memoryLogger } from "./_helpers.ts";

const parts = {
  text: { type: EventType.TEXT_MESSAGE_CONTENT, messageId: "m" },
  reasoning: { type: EventType.REASONING_MESSAGE_CONTENT, messageId: "m" },
  arguments: { type: EventType.TOOL_CALL_ARGS, toolCallId: "c" },
};
const kinds = Object.entries(parts);

// A member that AG-UI may add to deltas. Whatever joins, counts or frames deltas has to leave this one alone.
const tomorrow = { tomorrow: "x".repeat(100) };

describe.each(kinds)("a delta of %s with a member more than type, id and delta", (_, part) => {
  const bare = (delta: string): BaseEvent => ({ ...part, delta });
  const rich: BaseEvent = { ...part, delta: "c", ...tomorrow };

  test("is not bare", () => {
    expect(isBareDelta(bare("b"))).toBe(true);
    expect(isBareDelta({ ...bare("b"), metadata: undefined })).toBe(true);
    expect(isBareDelta(rich)).toBe(false);
    for (const label of [{ timestamp: 7 }, { subagentRunId: "s" }]) {
      expect(isBareDelta({ ...bare("b"), ...label })).toBe(false);
    }
  });

  test("counts with it", () => {
    expect(sizeOfEvent(rich)).toBeGreaterThan(sizeOfEvent(bare("b")) + 80);
  });

  test("is framed with it, in a line of deltas too", () => {
    const line: LogEntry = { from: 4, to: 5, at: 0, event: { ...rich, delta: "ab" } };
    const { encode, encodeDeltas } = aguiSseEncoder({ protocolVersion: "1.0" });
    encode({ from: 3, to: 3, at: 0, event: bare("x") });
    expect(encodeDeltas!(line, ["a", "b"]).toString().split("tomorrow")).toHaveLength(3);
    expect(encode({ ...line, from: 6, to: 6, event: rich })).toContain("tomorrow");
  });

  test.each([
    ["alone", []],
    ["behind throttleDeltas", [throttleDeltas({ ms: 1 })]],
  ])("reaches clients, live and from the log, %s", async (__, middleware) => {
    async function* agent(): AsyncGenerator<BaseEvent> {
      yield* [bare("a"), bare("b"), rich, bare("d"), bare("e")];
    }
    const logger = memoryLogger();
    const handler = createAgentHandler(agent, { middleware, logger, sessions: memorySessions() });
    const expected = [
      ["ab", undefined],
      ["c", tomorrow.tomorrow],
      ["de", undefined],
    ];
    const [live, logged] = [await handler.fetch(start()), await handler.fetch(resume())];
    expect(await texts(live, part.type)).toEqual(expected);
    expect(await texts(logged, part.type)).toEqual(expected);
    await handler.close();
  });
});

test("frames of the text alone drop what else a delta has", () => {
  const { encode } = createDeltaFrames({
    frame: () => ({ head: '"', tail: '"\n' }),
    encode: () => "other\n",
    textOnly: true,
  });
  const event = { ...parts.text, delta: "a", ...tomorrow };
  expect(encode({ from: 1, to: 1, at: 0, event })).toBe('"a"\n');
});

function start(): Request {
  const input = { threadId: "t", runId: "r", protocolVersion: "1.0", messages: [], tools: [] };
  return new Request("http://localhost/agui", {
    method: "POST",
    headers: { "content-type": "application/json", accept: "text/event-stream" },
    body: JSON.stringify({ ...input, context: [], state: {}, forwardedProps: {} }),
  });
}

function resume(): Request {
  return new Request("http://localhost/agui/runs/r/events?threadId=t", {
    headers: { accept: "text/event-stream", "last-event-id": "0" },
  });
}

/** The texts of a stream's deltas with their new member; those without it that follow each other are joined. */
async function texts(response: Response, type: EventType): Promise<[string, unknown][]> {
  const found: [string, unknown][] = [];
  for await (const event of readEvents(response)) {
    if (event.type !== type) continue;
    const last = found.at(-1);
    const delta = event.delta as string;
    if (last && last[1] === undefined && event.tomorrow === undefined) last[0] += delta;
    else found.push([delta, event.tomorrow]);
  }
  return found;
}

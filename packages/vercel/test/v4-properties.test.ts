import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { BaseEvent, LogEntry } from "@holodeck/agui-core";
import { randomRun } from "../../core/test/random-run.ts";
import { validRun } from "../../core/test/guard-valid-runs.ts";
import { dataStreamEncoder } from "@holodeck/agui-vercel";
import { textStreamEncoder } from "@holodeck/agui-vercel";
import {
  encodeAll,
  receiveAssistantUi,
  receiveOldest,
  receiveV4,
  toBody,
  toLog,
} from "./_v4-clients.ts";

const numRuns = Number(process.env.VERCEL_RUNS ?? 60);

const failure = fc.option(fc.constantFrom("agent-error", "rate-limited"), { nil: undefined });
// A run that succeeds, waits for the client or fails, cut anywhere.
const anyRun = fc
  .tuple(
    fc.oneof(
      validRun,
      randomRun.map((events) => [
        { type: "RUN_STARTED", threadId: "thread", runId: "run" },
        ...events,
      ]),
    ),
    fc.nat(),
    failure,
    fc.boolean(),
  )
  .map(([events, at, code, isCut]) => {
    const said = isCut ? events.slice(0, 1 + (at % events.length)) : events;
    if (code === undefined) return toLog(said);
    const open = said.filter(({ type }) => type !== "RUN_FINISHED");
    return toLog([...open, { type: "RUN_ERROR", message: "secret", code }]);
  });

describe("any run, in the clients of data stream v1", { timeout: 300_000 }, () => {
  test("ends with exactly one d: after whole lines", () => {
    fc.assert(
      fc.property(anyRun, fc.boolean(), (log, isOldest) => {
        const chunks = encodeAll(encoder(isOldest), log);
        expect(chunks.every((chunk) => chunk.endsWith("\n"))).toBe(true);
        const lines = chunks.join("").split("\n").slice(0, -1);
        expect(lines[0]).toBe('0:""');
        expect(lines.filter((line) => line.startsWith("d:"))).toEqual([lines.at(-1)]);
      }),
      { numRuns },
    );
  });

  test("is in AI SDK 4 what the agent sent, and is not sent again", async () => {
    await fc.assert(
      fc.asyncProperty(anyRun, async (log) => {
        const chunks = encodeAll(encoder(false), log);
        const { message, error, finishReason, resubmits } = await receiveV4(toBody(chunks));
        const told = tellRun(log);
        expect(error?.message).toBe(told.error);
        if (told.error === undefined) expect(finishReason).toBe(told.finishReason);
        expect(message?.content).toBe(told.text);
        expect(message?.reasoning ?? "").toBe(told.reasoning);
        expect(toCalls(message?.toolInvocations)).toEqual(told.calls);
        const parts = message?.parts.flatMap((part) =>
          part.type === "tool-invocation" ? [part.toolInvocation] : [],
        );
        expect(toCalls(parts)).toEqual(told.calls);
        expect(resubmits).toBe(false);
      }),
      { numRuns },
    );
  });

  test("is in AI SDK 3.4 what the agent sent, and is not sent again", async () => {
    await fc.assert(
      fc.asyncProperty(anyRun, async (log) => {
        const chunks = encodeAll(encoder(true), log);
        const { messages, error, finishReason, resubmits } = await receiveOldest(toBody(chunks));
        const told = tellRun(log);
        expect(error?.message).toBe(told.error);
        if (told.error === undefined) expect(finishReason).toBe(told.finishReason);
        expect(messages.map(({ content }) => content).join("")).toBe(told.text);
        const calls = toCalls(messages.flatMap(({ toolInvocations = [] }) => toolInvocations));
        expect(Object.keys(calls)).toEqual(Object.keys(told.calls));
        expect(resubmits).toBe(false);
      }),
      { numRuns },
    );
  });

  test("is in assistant-ui what the agent sent", async () => {
    await fc.assert(
      fc.asyncProperty(anyRun, async (log) => {
        const message = await receiveAssistantUi(toBody(encodeAll(encoder(false), log)));
        const told = tellRun(log);
        const text = message?.parts.flatMap((part) => (part.type === "text" ? [part.text] : []));
        expect(text?.join("")).toBe(told.text);
        const ids = message?.parts.flatMap((part) =>
          part.type === "tool-call" ? [part.toolCallId] : [],
        );
        expect(ids?.toSorted()).toEqual(Object.keys(told.calls).toSorted());
      }),
      { numRuns: Math.ceil(numRuns / 2) },
    );
  });

  test("is plain text in the text protocol", () => {
    fc.assert(
      fc.property(anyRun, (log) => {
        expect(encodeAll(textStreamEncoder(), log).join("")).toBe(tellRun(log).text);
      }),
      { numRuns },
    );
  });
});

function encoder(isOldest: boolean): ReturnType<typeof dataStreamEncoder> {
  return dataStreamEncoder(isOldest ? { mode: "3.4" } : {});
}

interface Told {
  text: string;
  reasoning: string;
  calls: Record<string, { answered: boolean }>;
  error: string | undefined;
  finishReason: string;
}

/** What a client has to end up with, read from the log in the simplest way. */
function tellRun(log: readonly LogEntry[]): Told {
  const told: Told = { text: "", reasoning: "", calls: {}, error: undefined, finishReason: "stop" };
  const foreign = new Set<unknown>();
  const heard = new Set<unknown>();
  const call = (id: unknown, answered: boolean): void => {
    const known = told.calls[String(id)];
    told.calls[String(id)] = { answered: answered || (known?.answered ?? false) };
  };
  for (const { event } of log) {
    switch (event.type as string) {
      case "TEXT_MESSAGE_START":
        if (event.role !== undefined && event.role !== "assistant") foreign.add(event.messageId);
        break;
      case "TEXT_MESSAGE_END":
        foreign.delete(event.messageId);
        break;
      case "TEXT_MESSAGE_CONTENT":
        heard.add(event.messageId);
        if (!foreign.has(event.messageId)) told.text += event.delta as string;
        break;
      case "REASONING_MESSAGE_START":
        heard.add(event.messageId);
        break;
      case "REASONING_MESSAGE_CONTENT":
        told.reasoning += event.delta as string;
        break;
      case "TOOL_CALL_START":
        call(event.toolCallId, false);
        break;
      case "TOOL_CALL_RESULT":
        call(event.toolCallId, true);
        break;
      case "MESSAGES_SNAPSHOT":
        tellSnapshot(event, { told, heard, call });
        break;
      case "RUN_ERROR":
        told.error = "An error occurred.";
    }
  }
  const isWaiting = Object.values(told.calls).some(({ answered }) => !answered);
  if (isWaiting) told.finishReason = "tool-calls";
  return told;
}

function tellSnapshot(
  { messages }: BaseEvent,
  run: { told: Told; heard: Set<unknown>; call: (id: unknown, answered: boolean) => void },
): void {
  const list = messages as (Record<string, unknown> & { toolCalls?: { id: string }[] })[];
  for (const one of list.slice(list.findLastIndex(({ role }) => role === "user") + 1)) {
    if (one.role === "tool") run.call(one.toolCallId, true);
    for (const { id } of one.toolCalls ?? []) run.call(id, false);
    if (one.role !== "assistant" && one.role !== "reasoning") continue;
    if (!run.heard.has(one.id)) {
      run.told[one.role === "assistant" ? "text" : "reasoning"] += (one.content as string) ?? "";
    }
    run.heard.add(one.id);
  }
}

function toCalls(
  invocations: readonly { toolCallId: string }[] = [],
): Record<string, { answered: boolean }> {
  return Object.fromEntries(
    invocations.map((one) => [one.toolCallId, { answered: "result" in one }]),
  );
}

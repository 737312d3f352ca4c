import { describe, expect, test } from "vitest";
import { startServer, toFrame } from "./_broken-server.ts";
import type { Fault, WireEvent } from "./_broken-server.ts";
import type { ServerResponse } from "node:http";
import { runMain } from "./_run-main.ts";

const proto = "application/vnd.ag-ui.event+proto";
// RUN_STARTED and RUN_FINISHED as @ag-ui/proto writes them.
const started = Buffer.from("620a0a02080b1201741a0172", "hex");
const finished = Buffer.from("6a0a0a02080c1201741a0172", "hex");
const stack = "Error: boom\n    at answer (/srv/agent/dist/index.js:12:7)";
const failing = ["--agent-prompt", "hello", "--agent-prompt", "fail"];

async function checked(fault: Fault, args: readonly string[] = []) {
  const server = await startServer(fault);
  const prompts = args.includes("--agent-prompt") ? [] : ["--agent-prompt", "hello"];
  const checking = runMain("check", server.url, "--json", ...prompts, ...args);
  const { code, out, err } = await checking.finally(server.close);
  expect(err).toBe("");
  const { checks } = JSON.parse(out) as { checks: any[] };
  return { code, checks, broken: checks.filter(({ verdict }) => verdict === "breaks") };
}

const without =
  (type: string, place = 0) =>
  (events: WireEvent[]): WireEvent[] => {
    const doomed = events.filter((event) => event.type === type)[place];
    return events.filter((event) => event !== doomed);
  };
const change =
  (type: string, fields: object) =>
  (events: WireEvent[]): WireEvent[] =>
    events.map((event) => (event.type === type ? { ...event, ...fields } : event));
const before =
  (type: string, more: WireEvent) =>
  (events: WireEvent[]): WireEvent[] => {
    const at = events.findIndex((event) => event.type === type);
    return at < 0 ? events : events.toSpliced(at, 0, more);
  };
const protobuf = (type: string, ...parts: Buffer[]): Fault => ({
  contentType: ({ accept }) => (accept === proto ? type : "text/event-stream"),
  bytes: (text, { accept }) => (accept === proto ? Buffer.concat(parts) : text),
});
const framed = (event: Buffer): Buffer => Buffer.from([0, 0, 0, event.length, ...event]);
const refuse = (kind: string, status: number, body = "Sorry."): Fault => ({
  refuse: (asked) => (asked === kind ? { status, body } : undefined),
});

interface Planted {
  readonly name: string;
  /** The check that must name it. */
  readonly id: string;
  /** What it must show of the bytes. */
  readonly seen: RegExp;
  readonly fault: Fault;
  readonly args?: readonly string[];
}

const framing: Planted[] = [
  {
    name: "a refusal of every run",
    id: "answers",
    seen: /Status 503/,
    fault: { answer: (_, response) => Boolean(response.writeHead(503).end()) },
  },
  {
    name: "a wrong content type",
    id: "content-type",
    seen: /Content-Type: text\/plain/,
    fault: { contentType: () => "text/plain" },
  },
  {
    name: "lines that end with CRLF",
    id: "line-feeds",
    seen: /data: .*\\r\\n/,
    fault: { frame: (event) => toFrame(event).replaceAll("\n", "\r\n") },
  },
  {
    name: "lines that end with CR",
    id: "line-feeds",
    seen: /\\r/,
    fault: { bytes: (text) => text.replaceAll("\n", "\r") },
  },
  {
    name: "JSON without data:",
    id: "frames",
    seen: /not an SSE field: \{"type":"STEP_STARTED"/,
    fault: { bytes: (text) => text.replace('data: {"type":"STEP_S', '{"type":"STEP_S') },
  },
  {
    name: "a last frame without its blank line",
    id: "frames",
    seen: /no blank line after it: data: .*RUN_FINISHED/,
    fault: { bytes: (text) => text.trimEnd() },
  },
  {
    name: "an event: of its own",
    id: "event-field",
    seen: /event: agent-update before data: /,
    fault: { frame: (event) => `event: agent-update\n${toFrame(event)}` },
  },
  {
    name: "[DONE]",
    id: "no-done",
    seen: /data: \[DONE\]/,
    fault: { bytes: (text) => `${text}data: [DONE]\n\n` },
  },
  {
    name: "a character cut in two",
    id: "utf-8",
    seen: /not valid UTF-8/,
    fault: {
      bytes: (text) => {
        const bytes = Buffer.from(text);
        const at = bytes.indexOf("🙂");
        return Buffer.concat([bytes.subarray(0, at + 2), bytes.subarray(at + 4)]);
      },
    },
  },
  {
    name: "a frame that is not JSON",
    id: "json",
    seen: /data: \{"type":"TEXT_MESSAGE_END",\}/,
    fault: {
      bytes: (text) =>
        text.replace(/\{"type":"TEXT_MESSAGE_END".*\}/, '{"type":"TEXT_MESSAGE_END",}'),
    },
  },
  {
    name: "two objects in a frame",
    id: "json",
    seen: /data: \{\}\{\}/,
    fault: {
      frame: (event) => (event.type === "STEP_STARTED" ? "data: {}{}\n\n" : toFrame(event)),
    },
  },
  {
    name: "an unknown event type",
    id: "known-types",
    seen: /data: .*TOKEN_USAGE/,
    fault: { events: before("RUN_FINISHED", { type: "TOKEN_USAGE", tokens: 3 }) },
  },
  {
    name: "an event of 0.0.x from a server of 1.0",
    id: "known-types",
    seen: /THINKING_START/,
    fault: { events: before("STEP_STARTED", { type: "THINKING_START" }) },
  },
  {
    name: "fields in snake_case",
    id: "camel-case",
    seen: /"message_id":/,
    fault: { frame: (event) => toFrame(event).replaceAll('"messageId"', '"message_id"') },
  },
  {
    name: "an event without its id",
    id: "fields",
    seen: /messageId: .* in data: /,
    fault: { events: change("TEXT_MESSAGE_CONTENT", { messageId: undefined }) },
  },
  {
    name: "null for what is not there",
    id: "fields",
    seen: /parentMessageId: /,
    fault: { events: change("TOOL_CALL_START", { parentMessageId: null }) },
  },
  {
    name: "a timestamp in seconds",
    id: "timestamps",
    seen: /timestamp 1700000000 in/,
    fault: { events: change("RUN_FINISHED", { timestamp: 1_700_000_000 }) },
  },
  {
    name: "a timestamp with a fraction",
    id: "timestamps",
    seen: /1700000000000\.5/,
    fault: { events: change("STEP_STARTED", { timestamp: 1_700_000_000_000.5 }) },
  },
];

const lifecycle: Planted[] = [
  {
    name: "no RUN_STARTED",
    id: "starts",
    seen: /The first event was .*STEP_STARTED/,
    fault: { events: without("RUN_STARTED") },
  },
  {
    name: "RUN_STARTED in the middle",
    id: "starts",
    seen: /In the middle of a run: data: /,
    fault: { events: (events) => [events[0]!, ...events] },
  },
  { name: "an empty stream", id: "starts", seen: /held no event/, fault: { events: () => [] } },
  {
    name: "another runId at the end",
    id: "ids",
    seen: /"runId":"mine"/,
    fault: { events: change("RUN_FINISHED", { runId: "mine" }) },
  },
  {
    name: "another runId from start to end",
    id: "ids",
    seen: /No RUN_STARTED has the runId check-/,
    fault: {
      events: (events) =>
        change("RUN_STARTED", { runId: "x" })(change("RUN_FINISHED", { runId: "x" })(events)),
    },
  },
  {
    name: "another threadId",
    id: "ids",
    seen: /"threadId":"mine"/,
    fault: { events: change("RUN_STARTED", { threadId: "mine" }) },
  },
  {
    name: "a version that is none",
    id: "version",
    seen: /"protocolVersion":"v1"/,
    fault: { events: change("RUN_STARTED", { protocolVersion: "v1" }) },
  },
  {
    name: "a type of an encrypted value that is no text",
    id: "encrypted-values",
    seen: /"encryptedValueType":7/,
    fault: { events: change("REASONING_ENCRYPTED_VALUE", { encryptedValueType: 7 }) },
  },
  {
    name: "a type without its value, in a message",
    id: "encrypted-values",
    seen: /"encryptedValueType":"a"/,
    fault: {
      events: before("RUN_FINISHED", {
        type: "MESSAGES_SNAPSHOT",
        messages: [{ id: "m", role: "assistant", content: "Hi", encryptedValueType: "a" }],
      }),
    },
  },
  {
    name: "a type without its value, in a call",
    id: "encrypted-values",
    seen: /"encryptedValueType":"b"/,
    fault: {
      events: before("RUN_FINISHED", {
        type: "MESSAGES_SNAPSHOT",
        messages: [
          {
            id: "m",
            role: "assistant",
            toolCalls: [
              {
                id: "c",
                type: "function",
                function: { name: "find", arguments: "{}" },
                encryptedValueType: "b",
              },
            ],
          },
        ],
      }),
    },
  },
  ...["1.0", "1.999"].map((refused) => ({
    name: `a refusal of clients of ${refused}`,
    id: "versions",
    seen: /426/,
    fault: {
      answer: ({ version }: { version: unknown }, response: ServerResponse) => {
        if (version !== refused) return false;
        response.writeHead(426).end();
        return true;
      },
    },
  })),
  {
    name: "no terminal event",
    id: "one-end",
    seen: /ended without one/,
    fault: { events: without("RUN_FINISHED") },
  },
  {
    name: "a connection that is cut in the middle",
    id: "one-end",
    seen: /ended without one/,
    fault: {
      answer({ index, threadId, runId }, response) {
        if (index !== 1) return false;
        response.writeHead(200, { "content-type": "text/event-stream" });
        const start = { type: "RUN_STARTED", threadId, runId, protocolVersion: "1.0" };
        const text = { type: "TEXT_MESSAGE_START", messageId: "half", role: "assistant" };
        response.write(toFrame(start) + toFrame(text), () => response.socket?.destroy());
        return true;
      },
    },
  },
  {
    name: "two terminal events",
    id: "one-end",
    seen: /A second one: .*RUN_FINISHED/,
    fault: { events: (events) => [...events, events.at(-1)!] },
  },
  {
    name: "an error after the end",
    id: "one-end",
    seen: /A second one: .*RUN_ERROR/,
    fault: { events: (events) => [...events, { type: "RUN_ERROR", message: "Too late." }] },
  },
  {
    name: "text after the end",
    id: "silent-after-end",
    seen: /data: .*TEXT_MESSAGE_START/,
    fault: {
      events: (events) => [
        ...events,
        { type: "TEXT_MESSAGE_START", messageId: "late", role: "assistant" },
        { type: "TEXT_MESSAGE_CONTENT", messageId: "late", delta: "Bye" },
        { type: "TEXT_MESSAGE_END", messageId: "late" },
      ],
    },
  },
  {
    name: "a connection that stays open after the end",
    id: "closes",
    seen: /stayed open/,
    // A second may pass on a busy machine before anything is answered.
    args: ["--timeout", "3"],
    fault: {
      answer({ index }, response) {
        if (index === 1) response.end = (() => response) as never;
        return false;
      },
    },
  },
];

const parts: Planted[] = [
  {
    name: "text that is not closed",
    id: "text",
    seen: /still open at data: .*RUN_FINISHED/,
    fault: { events: without("TEXT_MESSAGE_END") },
  },
  {
    name: "a delta of a message that was not started",
    id: "text",
    seen: /No message "text-1" is open: data: .*TEXT_MESSAGE_CONTENT/,
    fault: { events: without("TEXT_MESSAGE_START") },
  },
  {
    name: "a tool call that is not closed",
    id: "tool-calls",
    seen: /The tool call "call-1" is still open/,
    fault: { events: without("TOOL_CALL_END") },
  },
  {
    name: "a tool call that is started twice",
    id: "tool-calls",
    seen: /is open already: data: /,
    fault: {
      events: (events) =>
        events.flatMap((event) => (event.type === "TOOL_CALL_START" ? [event, event] : event)),
    },
  },
  {
    name: "arguments that are not JSON",
    id: "tool-args",
    seen: /The arguments of "call-1": \{"city":$/,
    fault: { events: without("TOOL_CALL_ARGS", 1) },
  },
  {
    name: "the result of a call nobody made",
    id: "tool-results",
    seen: /"toolCallId":"other"/,
    fault: { events: change("TOOL_CALL_RESULT", { toolCallId: "other" }) },
  },
  {
    name: "an answered call that waits",
    id: "tool-results",
    seen: /"call-\d" is not open/,
    fault: {
      events: (events, { index, isOld }) => {
        const outcome = { type: "success", pendingToolCallIds: [`call-${index}`] };
        return isOld ? events : change("RUN_FINISHED", { outcome })(events);
      },
    },
  },
  {
    name: "reasoning that is not closed",
    id: "reasoning",
    seen: /The reasoning "span-1" is still open/,
    fault: { events: without("REASONING_END") },
  },
  {
    name: "a reasoning message that is not closed",
    id: "reasoning",
    seen: /The reasoning message "thought-1" is still open/,
    fault: { events: without("REASONING_MESSAGE_END") },
  },
  {
    name: "a step that is not finished",
    id: "steps",
    seen: /The step "think" is still open/,
    fault: { events: without("STEP_FINISHED") },
  },
  {
    name: "a step that was not started",
    id: "steps",
    seen: /No step "think" is open/,
    fault: { events: without("STEP_STARTED") },
  },
  {
    name: "a subagent that is not finished",
    id: "subagents",
    seen: /The subagent "sub-1" is still open/,
    fault: { events: without("SUBAGENT_FINISHED") },
  },
  {
    name: "text of a subagent that another goes on with",
    id: "subagents",
    seen: /The message "text-1" belongs to another/,
    fault: { events: change("TEXT_MESSAGE_END", { subagentRunId: "other" }) },
  },
  {
    name: "a first chunk without an id",
    id: "chunks",
    seen: /A first chunk without messageId: data: /,
    fault: { events: without("TEXT_MESSAGE_CHUNK") },
  },
  {
    name: "a state delta that does not apply",
    id: "state",
    seen: /Operation 0.*"path":"\/counts\/0"/,
    fault: {
      events: change("STATE_DELTA", { delta: [{ op: "replace", path: "/counts/0", value: 2 }] }),
    },
  },
  {
    name: "an activity delta without an activity",
    id: "activities",
    seen: /Nothing to patch: data: /,
    fault: { events: without("ACTIVITY_SNAPSHOT") },
  },
  {
    name: "a snapshot with a message that is none",
    id: "messages",
    seen: /messages\.0\.content: /,
    fault: {
      events: change("MESSAGES_SNAPSHOT", {
        messages: [{ id: "1", role: "assistant", content: 5 }],
      }),
    },
  },
  {
    name: "a snapshot with an id twice",
    id: "messages",
    seen: /Two messages with the id "1"/,
    fault: {
      events: change("MESSAGES_SNAPSHOT", {
        messages: [1, 2].map(() => ({ id: "1", role: "user", content: "hi" })),
      }),
    },
  },
  {
    name: "the ids of messages again in the next run",
    id: "message-ids",
    seen: /"(text|thought)-1" is a message of the history already/,
    fault: {
      events: (events) =>
        JSON.parse(JSON.stringify(events).replaceAll(/"(text|thought|chunk)-\d+"/g, '"$1-1"')),
    },
  },
];

const errors: Planted[] = [
  {
    name: "an error without a message",
    id: "run-error",
    seen: /No message: data: /,
    args: failing,
    fault: { events: change("RUN_ERROR", { message: " " }) },
  },
  {
    name: "a stack trace in RUN_ERROR",
    id: "error-leaks",
    seen: /a stack frame: .*in data: /,
    args: failing,
    fault: { events: change("RUN_ERROR", { message: stack }) },
  },
  {
    name: "a path in RUN_ERROR",
    id: "error-leaks",
    seen: /a file path: \/home\/ada\/agent/,
    args: failing,
    fault: {
      events: change("RUN_ERROR", { message: "ENOENT: open '/home/ada/agent/keys'" }),
    },
  },
  {
    name: "a password in RUN_ERROR",
    id: "error-leaks",
    seen: /a credential: postgres:\/\/app:hunter2@/,
    args: failing,
    fault: { events: change("RUN_ERROR", { message: "connect postgres://app:hunter2@db/x" }) },
  },
  {
    name: "a stack trace in a 500",
    id: "http-leaks",
    seen: /a stack frame: .* with status 500/,
    args: ["--agent-prompt", "hello", "--agent-prompt", "fail early"],
    fault: refuse("fail", 500, stack),
  },
  {
    name: "a traceback in a 400",
    id: "http-leaks",
    seen: /Traceback/,
    fault: refuse("json", 400, 'Traceback (most recent call last):\n  File "a.py", line 3'),
  },
];

const requests: Planted[] = [
  {
    name: "no second run on a thread",
    id: "second-run",
    seen: /Status 409/,
    fault: {
      answer: ({ index }, response) => index === 2 && Boolean(response.writeHead(409).end("busy")),
    },
  },
  {
    name: "an outcome that 0.0.x does not know",
    id: "old-clients",
    seen: /"cancelled"/,
    fault: { events: change("RUN_FINISHED", { outcome: { type: "cancelled" } }) },
  },
  {
    name: "an empty delta for a client of 0.0.x",
    id: "empty-deltas",
    seen: /"delta":""/,
    fault: { events: change("REASONING_MESSAGE_CONTENT", { delta: "" }) },
  },
  {
    name: "protobuf for */*",
    id: "accept-any",
    seen: /Content-Type: application\/vnd\.ag-ui\.event\+proto/,
    fault: {
      contentType: ({ accept }) => (accept === "*/*" ? proto : "text/event-stream"),
      bytes: (text, { accept }) =>
        accept === "*/*" ? Buffer.concat([framed(started), framed(finished)]) : text,
    },
  },
  {
    name: "protobuf with a parameter",
    id: "protobuf",
    seen: /charset/,
    fault: protobuf(`${proto}; charset=utf-8`, framed(started), framed(finished)),
  },
  {
    name: "protobuf without lengths",
    id: "protobuf",
    seen: /A length of/,
    fault: protobuf(proto, started, finished),
  },
  {
    name: "protobuf with lengths the wrong way round",
    id: "protobuf",
    seen: /bytes 0c000000/,
    fault: protobuf(proto, Buffer.from([12, 0, 0, 0]), started),
  },
  {
    name: "protobuf that is cut",
    id: "protobuf",
    seen: /A length of 12 .* where 11 bytes follow/,
    fault: protobuf(proto, framed(started).subarray(0, -1)),
  },
  {
    name: "protobuf without an end",
    id: "protobuf",
    seen: /not RUN_FINISHED/,
    fault: protobuf(proto, framed(started)),
  },
  {
    name: "an empty protobuf frame",
    id: "protobuf",
    seen: /An empty frame at byte 16/,
    fault: protobuf(proto, framed(started), Buffer.alloc(4), framed(finished)),
  },
  {
    name: "SSE under the name of protobuf",
    id: "protobuf",
    seen: /A length of/,
    fault: { contentType: ({ accept }) => (accept === proto ? proto : "text/event-stream") },
  },
  {
    name: "200 for malformed JSON",
    id: "bad-json",
    seen: /Status 200/,
    fault: refuse("json", 200, "{}"),
  },
  {
    name: "500 for malformed JSON",
    id: "bad-json",
    seen: /Status 500/,
    fault: refuse("json", 500),
  },
  {
    name: "200 for fields of a wrong type",
    id: "bad-input",
    seen: /Status 200/,
    fault: { refuse: (kind) => (kind === "input" ? { status: 200, body: "{}" } : undefined) },
  },
  {
    name: "500 for another media type",
    id: "media-type",
    seen: /Status 500/,
    fault: refuse("type", 500),
  },
  {
    name: "500 for an empty input",
    id: "missing-fields",
    seen: /Status 500/,
    fault: refuse("missing", 500),
  },
  {
    name: "500 for a large body",
    id: "big-body",
    seen: /Status 500/,
    fault: refuse("size", 500),
  },
  {
    name: "everything in one piece at the end",
    id: "streams",
    seen: /The first event came after (\d+) ms, the last one after \1 ms/,
    fault: {
      waitMs: 300,
      bytes: (text) => text,
    },
  },
  {
    name: "everything in one piece, by the events' own times",
    id: "streams",
    seen: /The first event came after (\d+) ms, the last one after \1 ms/,
    fault: {
      waitMs: 300,
      events: (events) =>
        events.map((event, place) => ({ ...event, timestamp: Date.now() - 290 + place * 10 })),
      bytes: (text) => text,
    },
  },
  {
    name: "500 for snake_case",
    id: "snake-case",
    seen: /Status 500/,
    fault: refuse("snake", 500),
  },
  {
    name: "a server that a closed connection ends",
    id: "survives-leaving",
    seen: /No answer/,
    fault: {
      left(server) {
        server.close();
        server.closeAllConnections();
      },
    },
  },
];

describe("holodeck check", () => {
  test("finds nothing wrong with a server that does everything right", async () => {
    const prompts = ["hello", "fail", "fail early"].flatMap((text) => ["--agent-prompt", text]);
    const { code, checks, broken } = await checked({}, prompts);
    expect(broken).toEqual([]);
    expect(code).toBe(0);
    const hidden = checks.filter(({ verdict }) => verdict === "not shown").map(({ id }) => id);
    // On a machine that is busy it may take long enough to be seen streaming.
    expect(hidden.filter((id) => id !== "streams")).toEqual(["keep-alive"]);
  });

  test.for([...framing, ...lifecycle, ...parts, ...errors, ...requests])(
    "names $name as $id, and nothing else",
    async ({ id, seen, fault, args }) => {
      const { code, broken } = await checked(fault, args);
      expect(broken.map((one) => one.id)).toEqual([id]);
      expect(broken[0].seen).toMatch(seen);
      expect(broken[0].rule).toMatch(/\.$/);
      expect(broken[0].where).toMatch(/run|request/);
      expect(code).toBe(1);
    },
  );
});

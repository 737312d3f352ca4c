import { AgentError, EventType } from "@holodeck/agui-core";
import type { BaseEvent } from "@holodeck/agui-core";
import {
  collect,
  eventExamples,
  exampleRun,
  runAgent,
  runContext,
  runInput,
  scriptedAgent,
} from "@holodeck/agui-testing";
import { runMatchers } from "@holodeck/agui-testing/vitest";
import * as fc from "fast-check";
import { from } from "rxjs";
import { describe, expect, test } from "vitest";
import { redact } from "../src/index.ts";
import type { RedactOptions } from "../src/index.ts";
import { growth } from "./_growth.ts";
import { randomRun, textsOf } from "./_random-run.ts";
import { randomToolRun } from "./random-tool-run.ts";
import { expectVerified } from "./_verify.ts";

expect.extend(runMatchers);

const through = (events: readonly BaseEvent[], options?: RedactOptions): Promise<BaseEvent[]> =>
  collect(redact(options)(runInput(), runContext(), () => from(events) as never));

const keys: RedactOptions = { patterns: [/key-\d+/], replacement: "*" };
const one = async (event: object, options = keys): Promise<BaseEvent> =>
  (await through([event as BaseEvent], options))[0]!;

describe("redact", () => {
  test("takes what looks like a credential out of an answer, however it is cut", async () => {
    const secrets = [
      "sk-proj-abcdefghij0123456789",
      "AKIAIOSFODNN7EXAMPLE",
      "ghp_abcdefghijklmnopqrst",
      "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl",
      "-----BEGIN PRIVATE KEY-----\nabc\ndef\n-----END PRIVATE KEY-----",
    ];
    for (const secret of secrets) {
      const said = `It is ${secret} I think.`;
      const run = await runAgent(scriptedAgent(said.split("")), { middleware: [redact()] });
      expect(run.text).toBe("It is [redacted] I think.");
      expect(run).toBeValidRun();
    }
    const url = "postgres://ada:pw@db.internal/x";
    const run = await runAgent(scriptedAgent(url.split("")), { middleware: [redact()] });
    expect(run.text).toBe("postgres://[redacted]@db.internal/x");
  });

  test("holds back at most what its options set", async () => {
    const events = "0123456789abc".split("").map((delta) => ({
      type: EventType.TEXT_MESSAGE_CONTENT,
      messageId: "m",
      delta,
    }));
    const shown: unknown[] = [];
    const source = from(events);
    redact({ ...keys, window: 4 })(runInput(), runContext(), () => source).subscribe({
      next: (event) => void shown.push(event.delta),
      error: () => undefined,
      complete: () => undefined,
    });
    expect(shown).toEqual(["0", "1", "2", "3", "4", "5", "6", "7", "8", "9abc"]);
  });

  test("never sends half a character", async () => {
    const run = await runAgent(scriptedAgent(["a😀b", "😀😀", "c😀"]), {
      middleware: [redact({ ...keys, window: 2 })],
    });
    expect(run.text).toBe("a😀b😀😀c😀");
    const deltas = run.events.flatMap(({ delta }) => (typeof delta === "string" ? [delta] : []));
    for (const delta of deltas) expect(() => encodeURIComponent(delta)).not.toThrow();
  });

  test("looks back at what it has sent", async () => {
    const patterns = [/(?<=pin )\d+/, /\bcode\b/];
    const said = ["my pi", "n ", "12", "34 and barcode", "s code", " 99"];
    const agent = scriptedAgent(said);
    const run = await runAgent(agent, { middleware: [redact({ patterns, window: 5 })] });
    expect(run.text).toBe("my pin [redacted] and barcodes [redacted] 99");
  });

  test("keeps arguments and results JSON", async () => {
    const agent = scriptedAgent([
      async (_, { emit }) => {
        const fragments = async function* () {
          yield '{"card":41111111';
          yield '11111111,"note":"pay 4111111111';
          yield '111111 now"}';
        };
        const id = await emit.toolCall("pay", fragments());
        await emit.toolResult(id, { card: 4_111_111_111_111_111, ok: true });
      },
    ]);
    const run = await runAgent(agent, { middleware: [redact({ patterns: [/\d{16}/] })] });
    expect(run.toolCalls).toMatchObject([
      {
        args: { card: "[redacted]", note: "pay [redacted] now" },
        result: '{"card":"[redacted]","ok":true}',
      },
    ]);
  });

  test("reads arguments that are no JSON, or too long to wait for", async () => {
    const call = (delta: string): BaseEvent[] => [
      { type: EventType.TOOL_CALL_START, toolCallId: "c", toolCallName: "t" },
      { type: EventType.TOOL_CALL_ARGS, toolCallId: "c", delta },
      { type: EventType.TOOL_CALL_END, toolCallId: "c" },
    ];
    const args = async (delta: string): Promise<unknown[]> =>
      (await through(call(delta), keys)).slice(1, -1).map((event) => event.delta);
    expect(await args('{"a": key-12')).toEqual(['{"a": *']);
    const long = `"${"x".repeat(300_000)} key-12 y"`;
    expect((await args(long)).join("")).toBe(long.replace("key-12", "*"));
  });

  test.for<[string, object, object]>([
    [
      "a result in parts",
      { type: "TOOL_CALL_RESULT", content: [{ type: "text", id: "key-1", text: "key-1" }] },
      { content: [{ type: "text", id: "key-1", text: "*" }] },
    ],
    [
      "state",
      { type: "STATE_SNAPSHOT", snapshot: { id: "key-1", n: [1, "a key-22 b"] } },
      { snapshot: { id: "*", n: [1, "a * b"] } },
    ],
    [
      "a change of state",
      {
        type: "STATE_DELTA",
        delta: [
          { op: "add", path: "/key-1", value: { path: "key-1" } },
          { op: "remove", path: "/key-1" },
        ],
      },
      {
        delta: [
          { op: "add", path: "/key-1", value: { path: "*" } },
          { op: "remove", path: "/key-1" },
        ],
      },
    ],
    [
      "an activity",
      { type: "ACTIVITY_SNAPSHOT", messageId: "key-1", content: { id: "key-1" } },
      { messageId: "key-1", content: { id: "*" } },
    ],
    [
      "a change of an activity",
      { type: "ACTIVITY_DELTA", patch: [{ op: "add", path: "/a", value: "key-1" }] },
      { patch: [{ op: "add", path: "/a", value: "*" }] },
    ],
    [
      "a custom event",
      { type: "CUSTOM", name: "key-1", value: "key-1" },
      { name: "key-1", value: "*" },
    ],
    [
      "a raw event",
      { type: "RAW", event: { deep: [{ x: "key-1" }] } },
      { event: { deep: [{ x: "*" }] } },
    ],
    [
      "an error",
      { type: "RUN_ERROR", message: "No key-1.", code: "key-1" },
      { message: "No *.", code: "key-1" },
    ],
    [
      "a question",
      {
        type: "RUN_FINISHED",
        outcome: {
          type: "interrupt",
          interrupts: [
            { id: "key-1", toolCallId: "key-1", message: "key-1?", metadata: { id: "key-1" } },
          ],
        },
      },
      {
        outcome: {
          type: "interrupt",
          interrupts: [{ id: "key-1", toolCallId: "key-1", message: "*?", metadata: { id: "*" } }],
        },
      },
    ],
    [
      "a result of the run",
      { type: "RUN_FINISHED", result: "key-1", metadata: { a: "key-1" } },
      { result: "*", metadata: { a: "*" } },
    ],
    [
      "the provider's event",
      { type: "TEXT_MESSAGE_START", messageId: "m", rawEvent: { a: "key-1" } },
      { messageId: "m", rawEvent: { a: "*" } },
    ],
  ])("reads %s, and leaves what the protocol goes by", async ([, event, expected]) => {
    expect(await one(event)).toEqual({ type: (event as BaseEvent).type, ...expected });
  });

  test("reads snapshots of messages", async () => {
    const picture = { type: "data", mimeType: "image/png", value: "key-1" };
    const messages = [
      {
        id: "key-1",
        role: "user",
        content: [
          { type: "text", text: "key-1" },
          { type: "image", source: picture },
        ],
      },
      {
        id: "a",
        role: "assistant",
        content: "key-1",
        toolCalls: [
          {
            id: "key-1",
            type: "function",
            function: { name: "key-1", arguments: '{"a":"key-1"}' },
          },
        ],
      },
      { id: "t", role: "tool", toolCallId: "key-1", content: "key-1", error: "key-1" },
      { id: "p", role: "activity", activityType: "key-1", content: { type: "key-1" } },
    ];
    const { messages: shown } = await one({ type: "MESSAGES_SNAPSHOT", messages });
    expect(shown).toEqual([
      {
        id: "key-1",
        role: "user",
        content: [
          { type: "text", text: "*" },
          { type: "image", source: picture },
        ],
      },
      {
        id: "a",
        role: "assistant",
        content: "*",
        toolCalls: [
          { id: "key-1", type: "function", function: { name: "key-1", arguments: '{"a":"*"}' } },
        ],
      },
      { id: "t", role: "tool", toolCallId: "key-1", content: "*", error: "*" },
      { id: "p", role: "activity", activityType: "key-1", content: { type: "*" } },
    ]);
  });

  test("reads calls and text that another middleware sends in chunks", async () => {
    const chunk = (type: string, fields: object): BaseEvent => ({ type, ...fields }) as BaseEvent;
    const shown = await through(
      [
        chunk("TEXT_MESSAGE_CHUNK", { messageId: "m", role: "assistant", delta: "a ke" }),
        chunk("TEXT_MESSAGE_CHUNK", { delta: "y-1 b" }),
        chunk("TOOL_CALL_CHUNK", { toolCallId: "c", toolCallName: "t", delta: '{"a":"ke' }),
        chunk("TOOL_CALL_CHUNK", { delta: 'y-1"}' }),
        { type: EventType.RUN_FINISHED },
      ],
      keys,
    );
    expect(shown).toEqual([
      { type: "TEXT_MESSAGE_CHUNK", messageId: "m", role: "assistant", delta: "a * b" },
      { type: "TOOL_CALL_CHUNK", toolCallId: "c", toolCallName: "t", delta: '{"a":"*"}' },
      { type: "RUN_FINISHED" },
    ]);
  });

  test("passes a run without a match on as it is", async () => {
    const plain = exampleRun.map((event) => ({ ...event, rawEvent: undefined }));
    expect(await through(plain, { ...keys, window: 0 })).toEqual(plain);
  });

  test("reads every field of every event that carries text to a client", async () => {
    const words = new Set(
      "delta text message description result value name content title forecast trace answer".split(
        " ",
      ),
    );
    function plant(this: object, key: string, value: unknown): unknown {
      // The bytes of a picture stay whatever they look like.
      const isWord = words.has(key) && typeof value === "string" && !("mimeType" in this);
      return isWord ? "key-1" : value;
    }
    const planted = JSON.parse(JSON.stringify(Object.values(eventExamples), plant)) as BaseEvent[];
    expect(JSON.stringify(planted).match(/key-1/g)!.length).toBeGreaterThan(40);
    for (const event of planted) {
      const shown = await through([event], keys);
      const rest = JSON.stringify(shown).match(/"\w+":"key-1"/g) ?? [];
      // Names of tools and senders are the protocol's; RUN_STARTED's input is never sent.
      const allowed = event.type === EventType.RUN_STARTED ? /./ : /^"name"/;
      expect(rest.filter((found) => !allowed.test(found))).toEqual([]);
    }
  });

  test("sets what replaces a match", async () => {
    const replacement = (match: string): string => `<${match.length}>`;
    const said = await one(
      { type: "CUSTOM", name: "n", value: "key-123" },
      { ...keys, replacement },
    );
    expect(said.value).toBe("<7>");
  });

  test("reads the message of an error to the client", async () => {
    const failing = scriptedAgent([{ throw: new AgentError("forbidden", "Not with key-1.") }]);
    const run = await runAgent(failing, { middleware: [redact(keys)] });
    expect(run.error).toMatchObject({ code: "forbidden", message: "Not with *." });
  });

  test("sends what was held before the run fails", async () => {
    const failing = scriptedAgent(["Hello key-1", { throw: new Error("no") }]);
    const run = await runAgent(failing, { middleware: [redact(keys)] });
    expect([run.text, run.error?.code]).toEqual(["Hello *", "agent-error"]);
  });

  test("finds in pieces what it would find in the whole, and leaves any run valid", async () => {
    const pattern = /key-\d{1,4}/g;
    await fc.assert(
      fc.asyncProperty(randomRun, fc.integer({ min: 8, max: 20 }), async (events, window) => {
        const shown = await through(events, { ...keys, patterns: [/key-\d{1,4}/], window });
        const expected = new Map<string, string>();
        for (const [key, text] of textsOf(events)) {
          if (!key.startsWith("TOOL")) expected.set(key, text.replaceAll(pattern, "*"));
        }
        const texts = textsOf(shown);
        for (const [key, text] of expected) expect(texts.get(key) ?? "").toBe(text);
        for (const text of texts.values()) expect(text).not.toMatch(pattern);
        const rest = (list: readonly BaseEvent[]): string[] =>
          list.filter(({ delta }) => typeof delta !== "string").map(({ type }) => type);
        expect(rest(shown)).toEqual(rest(events));
        expect(JSON.stringify(shown.filter(({ delta }) => delta === undefined))).not.toMatch(
          pattern,
        );
        if (events.at(-1)!.type === "RUN_FINISHED") expect(shown).toBeValidRun();
        await expectVerified(shown);
      }),
      { numRuns: Number(process.env.MIDDLEWARE_RUNS ?? 150) },
    );
  });

  test("leaves nothing in the arguments and results of tools", async () => {
    await fc.assert(
      fc.asyncProperty(randomToolRun, async (events) => {
        const shown = await through(events, { patterns: [/secret/], replacement: "*" });
        expect(JSON.stringify(shown)).not.toContain("secret");
        expect(shown).toBeValidRun();
        await expectVerified(shown);
      }),
      { numRuns: Number(process.env.MIDDLEWARE_RUNS ?? 100) },
    );
  });

  test.for(["eyJ", "sk-", "-----BEGIN "])(
    "takes four times as long for %s, repeated four times as often",
    async (part) => {
      const redactAll = (amount: number): Promise<unknown> => {
        const pieces = part.repeat(amount).match(/.{1,64}/gs)!;
        return runAgent(scriptedAgent(pieces), { middleware: [redact()] });
      };
      expect(await growth(redactAll)).toBeLessThan(9);
    },
  );

  test.for<[unknown, string]>([
    [{ patterns: "x" }, 'redact\'s patterns must be a list, like [/\\d{16}/], not "x".'],
    [{ patterns: ["x"] }, "redact's patterns must be a list"],
    [{ replacement: 1 }, "redact's replacement must be a string or a function, not 1."],
    [{ window: -1 }, "redact's window must be a number of characters, not -1."],
    [{ pattern: [] }, "Did you mean patterns?"],
  ])("refuses %j", ([options, message]) => {
    expect(() => redact(options as never)).toThrow(message);
  });
});

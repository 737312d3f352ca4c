import { EventSchema } from "@ag-ui/core/schemas";
import type { BaseEvent, Json } from "@holodeck/agui-core";
import { agui, aguiSseEncoder } from "@holodeck/agui-protocol";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { asJson, entry, odd, sampleRows, samples } from "./events.ts";

const snake = aguiSseEncoder({ protocolVersion: "1.0", wireCase: "snake" });
const camel = aguiSseEncoder({ protocolVersion: "1.0" });

const textOf = (event: BaseEvent, encoder = snake): string => {
  const frame = String(encoder.encode(entry(event)));
  return frame
    .split("\n")
    .find((line) => line.startsWith("data: "))!
    .slice(6);
};
const told = (event: BaseEvent): Json => JSON.parse(textOf(event)) as Json;

interface Schema {
  readonly properties?: Record<string, Schema>;
  readonly items?: Schema;
  readonly oneOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly const?: unknown;
}
// AG-UI's own schema says what is envelope: what it has no members for is somebody's payload.
const schema = z.toJSONSchema(EventSchema, { io: "input", unrepresentable: "any" }) as Schema;
const toSnake = (name: string): string =>
  name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Goes through the envelope of an event, and gives every member the name that `rename` says. */
function walk(value: unknown, shapes: readonly Schema[], rename: Rename): unknown {
  const flat = shapes.flatMap((one) => [one, ...(one.oneOf ?? []), ...(one.anyOf ?? [])]);
  if (Array.isArray(value)) {
    const items = flat.flatMap((one) => one.items ?? []);
    return value.map((each) => walk(each, items, rename));
  }
  if (typeof value !== "object" || value === null) return value;
  const fitting = flat.filter(({ properties: { type, role } = {} }) => {
    const tag = type?.const === undefined ? role : type;
    const key = type?.const === undefined ? "role" : "type";
    return tag?.const === undefined || tag.const === (value as Json)[key];
  });
  const members = new Map(fitting.flatMap((one) => Object.entries(one.properties ?? {})));
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => {
      const name = rename(key, [...members.keys()]);
      const deeper = members.get(name) ?? members.get(key);
      // Content is never looked into, although some of it has a schema.
      const isContent = name === "content";
      return [name, deeper && !isContent ? walk(inner, [deeper], rename) : inner];
    }),
  );
}
type Rename = (key: string, members: readonly string[]) => string;

const back: Rename = (key, members) => members.find((name) => toSnake(name) === key) ?? key;

const keys = ["threadId", "thread_id", "toolCallId", "risk_level", "messages", "input", "a.B"];
const payload = fc.dictionary(
  fc.constantFrom(...keys),
  fc.oneof(fc.jsonValue(), fc.dictionary(fc.constantFrom(...keys), fc.jsonValue())),
  { minKeys: 1 },
) as fc.Arbitrary<Json>;

describe("wireCase snake", () => {
  test.for(sampleRows)("carries %s whole, under other names", ([, event]) => {
    expect(walk(told(event), [schema], back)).toStrictEqual(asJson(event));
  });

  test.for(sampleRows)("leaves no name of the envelope of %s in camelCase", ([, event]) => {
    const left: string[] = [];
    walk(told(event), [schema], (key, members) => {
      if (/[A-Z]/.test(key) && members.includes(key)) left.push(key);
      return back(key, members);
    });
    expect(left).toEqual([]);
  });

  test("spells the members of events in snake_case", () => {
    const start = { type: "RUN_STARTED", threadId: "t", runId: "r" } as unknown as BaseEvent;
    expect(textOf(start)).toBe('{"type":"RUN_STARTED","thread_id":"t","run_id":"r"}');
    const delta = { type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta: "hi" };
    expect(told(delta as unknown as BaseEvent)).toEqual({
      type: "TEXT_MESSAGE_CONTENT",
      message_id: "m",
      delta: "hi",
    });
  });

  test("never changes what is inside a payload, not by one byte", () => {
    fc.assert(
      fc.property(fc.constantFrom(...Object.values(samples)), payload, (sample, given) => {
        const event = { ...asJson(sample), metadata: given, rawEvent: given };
        const places = plant(event, given);
        const text = textOf(event);
        const bytes = JSON.stringify(given);
        expect(text.split(bytes)).toHaveLength(places + 1);
        expect(JSON.stringify(walk(JSON.parse(text), [schema], back))).toBe(JSON.stringify(event));
      }),
      { numRuns: Number(process.env.SNAKE_RUNS ?? 300) },
    );
  }, 300_000);

  test("keeps what an author calls like a member of the envelope out of its way", () => {
    for (const event of [
      { type: "RUN_STARTED", thread_id: "mine", threadId: "t", runId: "r" },
      { type: "RUN_STARTED", threadId: "t", runId: "r", thread_id: "mine" },
    ]) {
      expect(told(event as unknown as BaseEvent)).toEqual({
        type: "RUN_STARTED",
        thread_id: "t",
        run_id: "r",
      });
    }
  });

  test("shares no bytes with clients that read camelCase", () => {
    const legacy = aguiSseEncoder({ wireCase: "snake" });
    const all = [snake, camel, legacy, aguiSseEncoder()].map(({ key }) => key);
    expect(new Set(all).size).toBe(4);
    expect(aguiSseEncoder({ protocolVersion: "1.0", wireCase: "camel" }).key).toBe(camel.key);
  });

  test("ends a run although an event cannot be written", () => {
    for (const [name, event] of Object.entries(odd)) {
      const { type } = told(event);
      expect([event.type, "RAW"], name).toContain(type);
      expect(type, name).toBe((JSON.parse(textOf(event, camel)) as Json).type);
    }
  });

  test("is refused in another spelling, with the right ones", () => {
    expect(() => agui({ wireCase: "kebab" as never })).toThrow(
      'agui({ wireCase }) must be "camel" or "snake", not "kebab".',
    );
  });
});

/** Puts a payload wherever an author may, and counts the places. */
function plant(event: BaseEvent, given: Json): number {
  let places = 2;
  const put = (target: Json, key: string, value: unknown): void => {
    if (!(key in target)) return;
    target[key] = value;
    places++;
  };
  switch (event.type as string) {
    case "STATE_SNAPSHOT":
      put(event, "snapshot", given);
      break;
    case "STATE_DELTA":
      put(event, "delta", [{ op: "add", path: "/threadId", value: given }]);
      break;
    case "ACTIVITY_SNAPSHOT":
      put(event, "content", given);
      break;
    case "ACTIVITY_DELTA":
      put(event, "patch", [{ op: "add", path: "/threadId", value: given }]);
      break;
    case "CUSTOM":
      put(event, "value", given);
      break;
    case "RAW":
      put(event, "event", given);
      break;
    case "RUN_FINISHED":
      put(event, "result", given);
      break;
    case "MESSAGES_SNAPSHOT":
      (event.messages as Json[]) = [
        { id: "1", role: "activity", activityType: "x", content: given },
        { id: "2", role: "user", content: "hi", metadata: given },
      ];
      places += 2;
      break;
    default:
  }
  return places;
}

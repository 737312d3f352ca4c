import * as fc from "fast-check";
import { anything } from "./guard-arbitraries.ts";
import { nested } from "./_sent-back.ts";

/** Bounds that generated runs meet often. */
export const narrow = { bodyBytes: 60_000, jsonDepth: 24, messages: 30, messageChars: 50 };

const strangeIds: readonly string[] = [
  "",
  " ",
  "a b",
  "\n",
  "a\0b",
  "\ud800",
  "消息",
  "y".repeat(300),
  "z".repeat(1_024),
  "z".repeat(1_025),
  "w".repeat(5_000),
];
const names = ["a", "b", "c", "s1", "s2", "i"];
const idFields = new Set([
  "id",
  "messageId",
  "toolCallId",
  "parentMessageId",
  "parentToolCallId",
  "subagentRunId",
  "parentSubagentRunId",
  "entityId",
]);

type Renaming = Readonly<Record<string, string>>;

const renaming: fc.Arbitrary<Renaming> = fc
  .array(fc.constantFrom(...strangeIds, "a", "b", "c"), {
    minLength: names.length,
    maxLength: names.length,
  })
  .map((ids) => Object.fromEntries(names.map((name, at) => [name, ids[at]!])));

/** Three turns of an agent that names things strangely, speaks at length and nests deeply. */
export const strangeTurns: fc.Arbitrary<readonly (readonly unknown[])[]> = fc
  .tuple(
    renaming,
    fc.array(fc.array(turnValue(), { maxLength: 12 }), { minLength: 3, maxLength: 3 }),
  )
  .map(([ids, turns]) => turns.map((values) => values.map((value) => rename(value, ids))));

function turnValue(): fc.Arbitrary<unknown> {
  const text = fc.constantFrom("x", '"', "\u0001", "字", "é", "\ud83d\ude00", "\ud800");
  const chars = fc.constantFrom(10, 200, 6_000, 25_000);
  const long = fc.tuple(text, chars).map(([letter, count]) => letter.repeat(count));
  const levels = fc.integer({ min: 1, max: 40 });
  return fc.oneof(
    { weight: 8, arbitrary: anything },
    { weight: 1, arbitrary: long },
    {
      weight: 1,
      arbitrary: long.map((content) => ({
        type: "TOOL_CALL_RESULT",
        messageId: "a",
        toolCallId: "b",
        content,
      })),
    },
    {
      weight: 1,
      arbitrary: levels.map((depth) => ({ type: "STATE_SNAPSHOT", snapshot: nested(depth) })),
    },
    {
      weight: 1,
      arbitrary: levels.map((depth) => ({
        type: "TEXT_MESSAGE_START",
        messageId: "c",
        metadata: nested(depth),
      })),
    },
    {
      weight: 1,
      arbitrary: fc
        .tuple(long, fc.constantFrom("user", "assistant", "reasoning"))
        .map(([content, role]) => ({
          type: "MESSAGES_SNAPSHOT",
          messages: [
            { id: "a", role: "user", content: "" },
            { id: "b", role, content },
          ],
        })),
    },
    {
      weight: 1,
      arbitrary: fc.integer({ min: 1, max: 40 }).map((count) => ({
        type: "MESSAGES_SNAPSHOT",
        messages: Array.from({ length: count }, (_, at) => ({
          id: `n${at}`,
          role: "assistant",
          content: "hi",
        })),
      })),
    },
  );
}

// Copies what it changes, as deep as ids stand; what is not plain data passes as it is.
function rename(value: unknown, ids: Renaming, levels = 6): unknown {
  if (typeof value !== "object" || value === null || levels === 0) return value;
  if (Array.isArray(value)) return value.map((item) => rename(item, ids, levels - 1));
  try {
    if (Object.getPrototypeOf(value) !== Object.prototype) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, member]) => {
        const isName = idFields.has(key) && typeof member === "string";
        return [key, isName ? (ids[member] ?? member) : rename(member, ids, levels - 1)];
      }),
    );
  } catch {
    // A getter that throws, as some of the generated events have.
    return value;
  }
}

import { expect, test } from "vitest";
import { lastUserText } from "../src/index.ts";
import type { Message } from "../src/index.ts";

const user = (content: unknown): Message => ({ id: "u", role: "user", content }) as Message;
const picture = { type: "image", source: { type: "url", value: "https://example.com/a.png" } };

test.for<[string, Message[], string]>([
  ["the last of several messages", [user("one"), user("two")], "two"],
  [
    "a message with answers and results after it",
    [
      user("refund it"),
      { id: "a", role: "assistant", content: "Well." },
      { id: "t", role: "tool", toolCallId: "c", content: "done" },
    ],
    "refund it",
  ],
  [
    "text parts, a line each, without files",
    [user([{ type: "text", text: "one" }, picture, { type: "text", text: "two" }])],
    "one\ntwo",
  ],
  ["a message without text", [user("one"), user([picture])], ""],
  ["no message of the user", [{ id: "a", role: "assistant", content: "Hello." }], ""],
  ["no message at all", [], ""],
])("reads %s", ([, messages, text]) => {
  expect(lastUserText({ messages })).toBe(text);
});

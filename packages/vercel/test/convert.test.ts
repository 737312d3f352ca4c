import { AgentError } from "@holodeck/agui-core";
import { convertData, convertError, convertText } from "@holodeck/agui-vercel";
import { expect, test } from "vitest";

test("makes a line of text", () => {
  expect(convertText('a "b"\n')).toBe('0:"a \\"b\\"\\n"\n');
});

test("makes a line of data, which is an array", () => {
  expect(convertData([{ a: 1 }])).toBe('2:[{"a":1}]\n');
  expect(convertData({ a: 1 })).toBe('2:[{"a":1}]\n');
  expect(convertData(undefined)).toBe("2:[null]\n");
});

test("makes a line of an error, and shows no more of it than it may", () => {
  const secret = new Error("postgres://secret");
  expect(convertError("Try again.")).toBe('3:"Try again."\n');
  expect(convertError(new AgentError("rate-limited", "Try later."))).toBe('3:"Try later."\n');
  expect(convertError(secret)).toBe('3:"An error occurred."\n');
  expect(convertError(secret, { debug: true })).toBe('3:"postgres://secret"\n');
  expect(convertError({ stack: "secret" }, { debug: true })).toBe('3:"An error occurred."\n');
});

import { RunAgentInputSchema } from "@ag-ui/core/schemas";
import type { Json } from "@holodeck/agui-core";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { checkInput } from "../src/decode/check-input.ts";

const source = { type: "data", value: "aGk=", mimeType: "text/plain" };
const metadata = { a: 1 };
const call = { id: "c", type: "function", function: { name: "f", arguments: "{}" }, metadata };
const named = { subagentRunId: "s", name: "n", encryptedValue: "e", metadata };

// One of everything that an input can hold.
const whole = {
  threadId: "t",
  runId: "r",
  protocolVersion: "1.0",
  parentRunId: "p",
  state: { n: 1 },
  messages: [
    { id: "1", role: "user", content: "hi", ...named },
    { id: "2", role: "assistant", content: "hi", toolCalls: [call], ...named },
    { id: "3", role: "tool", content: "21", toolCallId: "c", error: "x", metadata },
    { id: "4", role: "system", content: "hi", ...named },
    { id: "5", role: "developer", content: "hi" },
    { id: "6", role: "reasoning", content: "hmm", encryptedValue: "e" },
    {
      id: "7",
      role: "user",
      content: [
        { type: "text", text: "hi", id: "p", metadata },
        { type: "image", source },
        { type: "audio", source: { type: "url", value: "https://a.test", mimeType: "audio/wav" } },
        { type: "video", source: { type: "file", value: "f", provider: "x" } },
        { type: "document", source, id: "d" },
      ],
    },
    { id: "8", role: "tool", content: [{ type: "text", text: "hi" }], toolCallId: "c" },
  ],
  tools: [{ name: "f", description: "F.", parameters: { type: "object" }, metadata }],
  context: [{ description: "d", value: "v" }],
  forwardedProps: { a: 1 },
  resume: [{ interruptId: "i", status: "resolved", payload: { ok: true }, metadata }],
};

type Path = readonly (string | number)[];

function pathsOf(value: unknown, path: Path = []): Path[] {
  if (typeof value !== "object" || value === null) return [path];
  const inside = Object.entries(value).flatMap(([key, one]) => pathsOf(one, [...path, key]));
  return [path, ...inside];
}

// What any value but null may stand for: null is removed before the check.
const isOpen = (path: Path): boolean =>
  path.some((key) => ["state", "forwardedProps", "payload", "parameters"].includes(String(key))) ||
  (path.includes("content") && path.at(-1) === "metadata");

function withValue(root: unknown, path: Path, value: unknown): Json {
  const copy = JSON.parse(JSON.stringify(root)) as Json;
  let at = copy;
  for (const key of path.slice(0, -1)) at = at[key] as Json;
  if (value === undefined) delete at[path.at(-1)!];
  else at[path.at(-1)!] = value;
  return copy;
}

test("what is accepted is what AG-UI's schemas accept, wherever a value is replaced", () => {
  expect(checkInput(whole)).toEqual([]);
  expect(RunAgentInputSchema.safeParse(whole).success).toBe(true);
  const paths = pathsOf(whole).filter((path) => path.length > 0);
  const odd = [undefined, null, 5, "", "x", true, [], {}, [null], [{}], [5], { type: "text" }];
  let refused = 0;
  for (const path of paths) {
    for (const value of odd) {
      if (value === null && isOpen(path)) continue;
      // A list of tools or context that is absent was filled in before.
      if (value === undefined && (path[0] === "tools" || path[0] === "context")) continue;
      const changed = withValue(whole, path, value);
      const isValid = RunAgentInputSchema.safeParse(changed).success;
      const faults = checkInput(changed);
      expect({ path, value, isValid: faults.length === 0 }).toEqual({ path, value, isValid });
      refused += Number(!isValid);
    }
  }
  expect(refused).toBeGreaterThan(paths.length);
});

test("a fault names the member that was replaced, or one inside it", () => {
  const paths = pathsOf(whole).filter((path) => path.length > 0 && !isOpen(path));
  fc.assert(
    fc.property(fc.constantFrom(...paths), (path) => {
      const faults = checkInput(withValue(whole, path, 5));
      if (path.includes("metadata") && path.at(-1) !== "metadata") return;
      expect(faults.map((one) => one.path)).toEqual([path.join(".")]);
    }),
  );
});

import { isAgentError, SUPPORTED_MIME_TYPES } from "@holodeck/agui-core";
import type { Fault, Json } from "@holodeck/agui-core";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { createChatSchemas, loadZod } from "../src/rest/chat-schemas.ts";
import { checkChat } from "../src/rest/check-chat.ts";
import { readChatBody, readToolResult } from "../src/threads/threads-check.ts";
import { loadThreadSchemas } from "../src/threads/threads-schemas.ts";

// The rules are written twice: for requests, and as schemas that OpenAPI is made from.

const uuid = "0b0e4d3c-6e7a-4f5e-9d53-6f0a5f0a5f0a";
const oddValues: readonly unknown[] = [
  undefined,
  null,
  5,
  -1,
  0,
  Infinity,
  "",
  " ",
  "x",
  "x".repeat(9),
  "😀".repeat(4),
  true,
  false,
  [],
  {},
  [null],
  uuid,
  "01ARZ3NDEKTSV4RRFFQ69G5FAV",
  "text/plain",
  "aGk=",
  "client",
  "a b",
];
const odd = fc.constantFrom(...oddValues);
const some = (...names: readonly string[]): fc.Arbitrary<Json> =>
  fc.record(Object.fromEntries(names.map((name) => [name, odd])), { requiredKeys: [] });
const listOf = (entry: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc.oneof(fc.array(fc.oneof({ weight: 9, arbitrary: entry }, odd), { maxLength: 3 }), odd);

interface Checked {
  error?: { issues: readonly { path: PropertyKey[]; message: string }[] } | undefined;
}

/** Both accept it, or both refuse it, and every place that the schema finds is found. */
function expectSame(faults: readonly Fault[], { error }: Checked): void {
  // The schema does not look into a list that may be something else.
  const places = faults.map(({ path }) => path.replace(/(\.parameters)\..*/, "$1"));
  expect(places.length > 0).toBe(error !== undefined);
  for (const { path } of error?.issues ?? []) expect(places).toContain(path.join("."));
}

test("a chat over REST is taken as its description has it", async () => {
  const mimeTypes = new Set(SUPPORTED_MIME_TYPES);
  const bounds = { files: 3, messageChars: 3, idFormat: "ulid" as const, mimeTypes };
  const { request } = createChatSchemas(await loadZod(), bounds);
  const body = fc
    .tuple(
      some("message", "session_id", "more"),
      fc.option(listOf(some("content", "mime_type", "filename"))),
    )
    .map(([given, files]): Json => (files === null ? given : { ...given, files }));
  fc.assert(
    fc.property(body, (given) => {
      const checked = request.safeParse(given) as Checked;
      let faults: readonly Fault[] = [];
      try {
        checkChat(given, bounds);
      } catch (error) {
        if (!isAgentError(error)) throw error;
        faults = error.errors ?? [];
      }
      expectSame(faults, checked);
      const messages = (checked.error?.issues ?? []).map(({ message }) => message);
      expect(new Set(faults.map(({ message }) => message))).toEqual(new Set(messages));
    }),
    { numRuns: 2_000 },
  );
});

test.for(["uuid", "any"] as const)("bodies of threads with %s ids are, too", async (idFormat) => {
  const { chat, toolResult } = await loadThreadSchemas({ idFormat });
  const tool = fc
    .tuple(
      some("name", "description", "execution_location", "timeout_seconds"),
      fc.option(listOf(some("name", "type", "description", "required", "default"))),
    )
    .map(([given, parameters]) => (parameters === null ? given : { ...given, parameters }));
  const body = fc
    .tuple(some("message", "thread_id", "stream", "metadata", "agent_id"), fc.option(listOf(tool)))
    .map(([given, tools]): Json => (tools === null ? given : { ...given, tools }));
  const result = some("execution_id", "thread_id", "result", "error", "execution_time_ms");
  fc.assert(
    fc.property(body, result, (given, other) => {
      expectSame(readChatBody(given, idFormat).faults, chat.safeParse(given));
      expectSame(readToolResult(other, idFormat).faults, toolResult.safeParse(other));
    }),
    { numRuns: 2_000 },
  );
});

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decodeThreadsChat } from "../src/threads/threads-decode.ts";
import { decodePlainChat } from "../src/threads/threads-plain.ts";
import { loadThreadSchemas } from "../src/threads/threads-schemas.ts";

const uuid = "11111111-AAAA-4111-8111-111111111111";
const formats = ["uuid", "any"] as const;
const decoders = await Promise.all(
  formats.map(async (idFormat) => {
    const { chat } = await loadThreadSchemas({ idFormat });
    const settings = { maxMessages: 50, validationStatus: 400, idFormat } as const;
    const closely = (body: unknown): unknown => decodeThreadsChat(body, chat, settings);
    return [idFormat, (body: unknown) => decodePlainChat(body, idFormat), closely] as const;
  }),
);

describe.each(decoders)("a plain chat, with ids of the format %s,", (_, glance, closely) => {
  test.each([
    { message: "hi" },
    { message: " hi\n", thread_id: uuid },
    { message: "hi", thread_id: null, stream: false },
    { stream: true, message: "x".repeat(10_000) },
  ])("is read at a glance as by the schema", (body) => {
    expect(glance(body)).toEqual(closely(body));
  });

  test("is never taken for one where the schema says otherwise", () => {
    const odd = fc.oneof(
      fc.constantFrom(null, "", " ", "hi", uuid, "a b", "thread-1", true, false, 0, [], {}),
      fc.constantFrom("x".repeat(10_001), "😀".repeat(10_000), "😀".repeat(10_001), "\u2003"),
      fc.jsonValue({ maxDepth: 1 }),
    );
    const names = ["message", "thread_id", "stream", "metadata", "agent_id", "tools", "more"];
    const changes = fc.dictionary(fc.constantFrom(...names, "__proto__"), odd, { maxKeys: 3 });
    let taken = 0;
    fc.assert(
      fc.property(fc.constantFrom({ message: "hi" }, {}), changes, (plain, other) => {
        const body = JSON.parse(JSON.stringify({ ...plain, ...other })) as unknown;
        const decoded = glance(body);
        if (!decoded) return;
        taken++;
        // A schema that refuses it throws here.
        expect(decoded).toEqual(closely(body));
      }),
      { numRuns: 1_000 },
    );
    expect(taken).toBeGreaterThan(50);
  });

  test.each([
    undefined,
    null,
    "hi",
    [],
    { message: "hi", metadata: {} },
    { message: "hi", more: 1 },
  ])("is not %j", (body) => expect(glance(body)).toBeUndefined());
});

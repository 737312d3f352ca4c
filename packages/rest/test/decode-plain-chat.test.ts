import { defaultLimits } from "@holodeck/agui-core";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decodePlainChat } from "../src/rest/decode-plain-chat.ts";
import { createChatReader } from "../src/rest/read-chat.ts";
import type { IdFormat } from "../src/shared/ids.ts";

const ulid = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
const uuid = "0f8fad5b-d9cb-469f-a165-70867728950e";

function boundsOf(idFormat: IdFormat, messageChars = 5) {
  return { messageChars, idFormat, files: 2, mimeTypes: new Set(["text/plain"]) };
}

const readers = {
  ulid: createChatReader(boundsOf("ulid"), defaultLimits),
  uuid: createChatReader(boundsOf("uuid"), defaultLimits),
  any: createChatReader(boundsOf("any"), defaultLimits),
};

/** What the schema makes of it. */
function closely(body: unknown, idFormat: IdFormat) {
  return readers[idFormat].read({ body } as never, undefined);
}

describe("a plain request", () => {
  test.for([
    [{ message: "hi" }, undefined],
    [{ message: "hi", session_id: ulid }, ulid],
    [{ message: "hi", session_id: null }, undefined],
  ] as const)("is read at a glance: %o", async ([body, sessionId]) => {
    const plain = decodePlainChat(body, boundsOf("ulid"));
    expect(plain).toEqual({ message: "hi", sessionId });
    expect(await closely(body, "ulid")).toMatchObject(plain!);
  });

  test("is never taken for one where a closer look says otherwise", async () => {
    const value = fc.oneof(
      fc.constantFrom(
        null,
        undefined,
        "",
        " ",
        "hi",
        "12345",
        "123456",
        "😀😀😀",
        ulid,
        uuid,
        "a b",
        0,
        [],
        {},
      ),
      fc.string({ unit: "binary", maxLength: 6 }),
    );
    const name = fc.constantFrom("message", "session_id", "files", "Message", "more", "__proto__");
    const body = fc.oneof(
      fc.dictionary(name, value, { maxKeys: 3 }),
      fc.record({ message: value, session_id: value }, { requiredKeys: ["message"] }),
      value,
    );
    const format = fc.constantFrom<IdFormat>("ulid", "uuid", "any");
    const property = fc.asyncProperty(body, format, async (asked, idFormat) => {
      const plain = decodePlainChat(asked, boundsOf(idFormat));
      if (!plain) return;
      const { message, sessionId, files, ignored } = await closely(asked, idFormat);
      expect({ message, sessionId }).toEqual(plain);
      expect([files, ignored]).toEqual([[], []]);
    });
    await fc.assert(property, { numRuns: 1_000 });
  });
});

import { testRunLog, testSessionStore } from "@holodeck/agui-testing/vitest";
import type { StoreSetup } from "@holodeck/agui-testing/vitest";
import { expect, test } from "vitest";
import { memoryKeyValue } from "../key-value.ts";
import type { KeyValue } from "../key-value.ts";
import { kvSessions } from "../kv-sessions.ts";
import { createHandler } from "../server.ts";

let kv = memoryKeyValue();
const suites = {
  // Another process is another store on the same database.
  second: openStore,
  blobs: false,
  faults: true,
} as const;

/** All calls to the database go through the suite, which lets some of them fail. */
function openStore({ through, ...setup }: StoreSetup) {
  return kvSessions({ kv: through ? faulty(kv, through) : kv, ...setup });
}

function faulty(kv: KeyValue, through: NonNullable<StoreSetup["through"]>): KeyValue {
  return {
    get: (key) => through(() => kv.get(key)),
    set: (key, value, version) => through(() => kv.set(key, value, version)),
    list: (prefix) => through(() => kv.list(prefix)),
  };
}

function createStore(setup: StoreSetup) {
  kv = memoryKeyValue();
  return openStore(setup);
}

testSessionStore("a store on a key-value database", createStore, suites);
testRunLog("a store on a key-value database", createStore, suites);

test("a second server goes on with the thread of the first", async () => {
  const handlers = [createHandler(kv), createHandler(kv)] as const;
  const ask = async (server: 0 | 1, body: object): Promise<Record<string, string>> => {
    const response = await handlers[server].fetch(
      new Request("http://localhost/agent/default/chat", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      }),
    );
    return (await response.json()) as Record<string, string>;
  };

  const first = await ask(0, { message: "Hello" });
  const second = await ask(1, { message: "Again", session_id: first["session_id"] });

  expect(first).toMatchObject({ content: "Message 1 of this thread: Hello" });
  expect(second).toMatchObject({
    session_id: first["session_id"],
    content: "Message 3 of this thread: Again",
  });
  for (const handler of handlers) await handler.close();
});

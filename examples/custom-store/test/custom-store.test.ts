import { testRunLog, testSessionStore } from "@holodeck/agui-testing/vitest";
import { expect, test } from "vitest";
import { memoryKeyValue } from "../key-value.ts";
import { kvSessions } from "../kv-sessions.ts";
import { createHandler } from "../server.ts";

let kv = memoryKeyValue();
const suites = {
  // Another process is another store on the same database.
  second: (setup: object) => kvSessions({ kv, ...setup }),
  blobs: false,
} as const;

function createStore(setup: object) {
  kv = memoryKeyValue();
  return kvSessions({ kv, ...setup });
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

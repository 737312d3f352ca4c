import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Message, SessionStore } from "@holodeck/agui-core";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { memorySessions } from "../src/index.ts";
import { sqliteSessions } from "../src/sqlite/index.ts";
import { manualClock } from "./_clock.ts";

const key = { principal: "ann", threadId: "t" };
const init = { agentId: "a" };
const user = (id: string, content = id): Message => ({ id, role: "user", content });
const numbered = (count: number): Message[] =>
  Array.from({ length: count }, (_, index) => user(`m${index + 1}`));

describe.for(["memory", "sqlite"] as const)("a thread in %s", (kind) => {
  let clock = manualClock();
  let folder = "";
  let store: SessionStore;

  const open = async (options: object = {}): Promise<void> => {
    const all = { clock, ...options };
    store =
      kind === "memory"
        ? memorySessions(all)
        : sqliteSessions({ path: join(folder, "agui.db"), ...all });
    await store.create(key, init);
  };
  const ids = async (): Promise<string[]> =>
    (await store.get(key))!.messages.map((message) => message.id);

  beforeEach(() => {
    clock = manualClock();
    folder = mkdtempSync(join(tmpdir(), "agui-requirements-"));
  });
  afterEach(async () => {
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  });

  test("never goes back in time, though the clock does", async () => {
    await open();
    const { createdAt } = (await store.get(key))!;
    clock.advance(5_000);
    await store.update(key, { append: [user("1")] });
    clock.advance(-60_000);
    await store.update(key, { append: [user("2")] });
    await store.touch(key);
    expect(await store.get(key)).toMatchObject({ createdAt, lastActivity: createdAt + 5_000 });
  });

  test("keeps the metadata of a message", async () => {
    await open();
    const message: Message = { ...user("1"), metadata: { source: "mail", tags: [] } };
    await store.update(key, { append: [message] });
    expect((await store.get(key))!.messages).toEqual([message]);
  });

  test("holds the last 50 messages when its options set this, in their order", async () => {
    await open({ maxMessagesPerThread: 50 });
    await store.update(key, { append: numbered(50) });
    expect(await ids()).toHaveLength(50);
    await store.update(key, { append: [user("new")] });
    expect(await ids()).toEqual([...numbered(50).slice(1), user("new")].map(({ id }) => id));
  });

  test("counts a message once, also when it was pruned and is sent again", async () => {
    await open({ maxMessagesPerThread: 3 });
    await store.update(key, { messages: numbered(10) });
    await store.update(key, { messages: numbered(11) });
    await store.update(key, { messages: numbered(12) });
    expect(await store.get(key)).toMatchObject({ messageCount: 12 });
    expect(await ids()).toEqual(["m10", "m11", "m12"]);
  });

  test("counts a branch of its history as something new", async () => {
    await open();
    await store.update(key, { messages: numbered(3) });
    await store.update(key, { messages: [user("m1"), user("edited")] });
    expect(await store.get(key)).toMatchObject({ messageCount: 4 });
  });

  test("keeps the last message, however long it is", async () => {
    await open({ maxTokens: 10 });
    await store.update(key, { append: [user("1"), user("2", "x".repeat(400))] });
    expect(await ids()).toEqual(["2"]);
  });
});

describe("memorySessions", () => {
  test("has room for as many sessions as its options set, and refuses one more", async () => {
    const store = memorySessions({ maxSessions: 1000 });
    for (let index = 0; index < 1000; index++) {
      await store.create({ principal: "ann", threadId: `t${index}` }, init);
    }
    const more = async (): Promise<unknown> => store.create(key, init);
    await expect(more()).rejects.toMatchObject({ code: "capacity-exceeded", status: 429 });
    await store.close();
  });
});

import { describe, expect, test } from "vitest";
import type { Message } from "@holodeck/agui-core";
import { changeSession, newSession } from "@holodeck/agui-sessions/kit";

const key = { principal: "", threadId: "t" };
const user = (id: string, content: Message["content"] = id): Message =>
  ({ id, role: "user", content }) as Message;

describe("the size of a thread", () => {
  test("is the same, counted change by change or at once", () => {
    let session = newSession(key, { agentId: "a" }, 0);
    const history: Message[] = [];
    for (let turn = 0; turn < 50; turn++) {
      history.push(user(`u${turn}`, "x".repeat(turn)));
      history.push({ id: `a${turn}`, role: "assistant", content: "y".repeat(3 * turn) });
      if (turn % 7 === 0) history.splice(2, 2);
      if (turn % 11 === 0) history.push({ id: `r${turn}`, role: "reasoning", content: "hm" });
      const messages = turn % 13 === 0 ? structuredClone(history) : history.slice();
      session = changeSession(
        session,
        { messages, state: { turn, rows: history.map(({ id }) => id) } },
        { now: turn, maxMessages: turn % 5 === 0 ? 20 : undefined },
      );
      const { size: _, ...unknown } = session;
      const { size } = changeSession(unknown, {}, { now: turn });
      expect(session.size).toEqual(size);
    }
    expect(session.size!.messages).toBeLessThan(session.messages.length);
  });

  test("costs nothing for what did not change", () => {
    const read: string[] = [];
    const watched = (id: string): Message =>
      new Proxy(user(id), {
        get(target, name) {
          if (name === "content") read.push(id);
          return Reflect.get(target, name) as unknown;
        },
      });
    const old = [watched("1"), watched("2"), watched("3")];
    const before = changeSession(
      newSession(key, { agentId: "a" }, 0),
      { messages: old },
      { now: 0 },
    );
    read.length = 0;
    changeSession(before, { messages: [...old, watched("4")] }, { now: 1 });
    expect(new Set(read)).toEqual(new Set(["4"]));
  });

  test("grows with the values that a text stands for, not only with its characters", () => {
    const sizeOf = (state: unknown): number =>
      changeSession(newSession(key, { agentId: "a" }, 0), { state }, { now: 0 }).size!.stateBytes;
    const objects = Array.from({ length: 1_000 }, () => ({}));
    expect(sizeOf(objects)).toBeGreaterThan(20 * JSON.stringify(objects).length);
    expect(sizeOf("x".repeat(1_000))).toBeLessThan(3_100);
  });
});

import { AgentError, isAgentError } from "@holodeck/agui-core";
import type { AgentFunction, SessionChange, SessionStore } from "@holodeck/agui-core";
import { memorySessions } from "@holodeck/agui";
import { describe, expect, test } from "vitest";
import { start } from "./_threads-kit.ts";
import type { Answer, Chat, Client } from "./_threads-kit.ts";

const tools = [{ name: "pick", description: "Lets the user pick one of several." }];

const picking: AgentFunction = async (_input, { callTool }) => {
  try {
    return `Picked ${JSON.stringify(await callTool("pick", {}))}.`;
  } catch (error) {
    return isAgentError(error) ? error.code : "unexpected";
  }
};

/** A store in which changes of the questions, or answers that are sent to a run, may fail. */
function faultyStore(): {
  sessions: SessionStore;
  onPending(fail: ((change: SessionChange) => unknown) | undefined): void;
  onSend(fail: (() => boolean | Promise<boolean>) | undefined): void;
} {
  const store = memorySessions();
  let failPending: ((change: SessionChange) => unknown) | undefined;
  let failSend: (() => boolean | Promise<boolean>) | undefined;
  const runs = new Proxy(store.runs, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name);
      if (name === "send" && failSend) return failSend;
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
  const sessions = new Proxy(store, {
    get: (target, name) => {
      if (name === "runs") return runs;
      const value: unknown = Reflect.get(target, name);
      if (name === "update") {
        const update: SessionStore["update"] = (key, change, options) => {
          if (change.pending && Object.keys(change).length === 1) failPending?.(change);
          return store.update(key, change, options);
        };
        return update;
      }
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
  return {
    sessions,
    onPending: (fail) => (failPending = fail),
    onSend: (fail) => (failSend = fail),
  };
}

const answer = ({ ask }: Client, id: string): Promise<Answer> =>
  ask("POST /tool_result", { execution_id: id, execution_time_ms: 5, result: "b" });

async function open(client: Client): Promise<{ chat: Chat; id: string }> {
  const chat = await client.chat({ message: "hi", tools });
  const asked = (await chat.until("tool_execution_request")).at(-1)!;
  return { chat, id: String(asked.execution_id) };
}

const busy = (): never => {
  throw new AgentError("thread-busy", "Another process was faster.");
};
const brief = ({ status, body }: Answer): unknown[] => [status, body.code];
const last = async (chat: Chat): Promise<unknown> => (await chat.rest()).at(-1);
const said = (content: string): object => ({ message: { content } });

describe("an answer of a client's tool", () => {
  test("wins though other processes write to the thread at the same time", async () => {
    const store = faultyStore();
    const client = await start(picking, { sessions: store.sessions });
    const { chat, id } = await open(client);
    let conflicts = 0;
    store.onPending(() => ++conflicts <= 50 && busy());
    expect((await answer(client, id)).status).toBe(200);
    expect(conflicts).toBe(51);
    expect(await last(chat)).toMatchObject(said('Picked "b".'));
  });

  test("is refused as busy when that does not end, and can be given again", async () => {
    const store = faultyStore();
    const client = await start(picking, { sessions: store.sessions });
    const { chat, id } = await open(client);
    let conflicts = 0;
    store.onPending(() => ++conflicts && busy());
    expect(brief(await answer(client, id))).toEqual([409, "thread-busy"]);
    expect(conflicts).toBe(51);
    store.onPending(undefined);
    expect((await answer(client, id)).status).toBe(200);
    expect(await last(chat)).toMatchObject(said('Picked "b".'));
  });

  test.for<[string, AgentError | Error, number, string]>([
    [
      "is unavailable",
      new AgentError("store-unavailable", "The store is away."),
      503,
      "store-unavailable",
    ],
    ["has a fault", new Error("broken"), 500, "internal"],
  ])("is tried once when the store %s", async ([, error, status, code]) => {
    const store = faultyStore();
    const client = await start(picking, { sessions: store.sessions });
    const { chat, id } = await open(client);
    let tried = 0;
    store.onPending(() => {
      tried++;
      throw error;
    });
    const refused = await answer(client, id);
    expect([refused.status, refused.body.code]).toEqual([status, code]);
    expect(tried).toBe(1);
    store.onPending(undefined);
    expect((await answer(client, id)).status).toBe(200);
    expect(await last(chat)).toMatchObject(said('Picked "b".'));
  });

  test("can be given again when it did not reach the run", async () => {
    const store = faultyStore();
    const client = await start(picking, { sessions: store.sessions });
    const { chat, id } = await open(client);
    store.onSend(() => {
      throw new AgentError("store-unavailable", "The store is away.");
    });
    expect(brief(await answer(client, id))).toEqual([503, "store-unavailable"]);
    store.onSend(undefined);
    expect((await answer(client, id)).status).toBe(200);
    expect(await last(chat)).toMatchObject(said('Picked "b".'));
  });

  test("is unknown when its run has ended meanwhile", async () => {
    const store = faultyStore();
    const client = await start(picking, { sessions: store.sessions });
    const { id } = await open(client);
    store.onSend(() => false);
    expect(brief(await answer(client, id))).toEqual([404, "unknown-execution"]);
  });

  test("is unknown when its thread was deleted meanwhile", async () => {
    const store = faultyStore();
    const client = await start(picking, { sessions: store.sessions });
    const { id } = await open(client);
    store.onPending(() => {
      throw new AgentError("session-not-found", "There is no such thread.");
    });
    expect((await answer(client, id)).status).toBe(409);
  });
});

test("a question is not asked on a thread that was deleted", async () => {
  const store = faultyStore();
  const client = await start(picking, { sessions: store.sessions });
  store.onPending(() => {
    throw new AgentError("session-not-found", "There is no such thread.");
  });
  const chat = await client.chat({ message: "hi", tools });
  expect(await last(chat)).toMatchObject(said("run-lost"));
});

import { setImmediate as turn } from "node:timers/promises";
import type { AgentFunction, Exchange, SessionStore, Sink } from "@holodeck/agui-core";
import { memorySessions } from "@holodeck/agui-sessions";
import { describe, expect, test, vi } from "vitest";
import { createAgentHandler } from "../src/index.ts";
import { memoryLogger } from "./_helpers.ts";

const user = { id: "u", role: "user", content: "hi" };
const key = { principal: "", threadId: "t" };

/** A request whose answer is noted in the moment it is written. */
function exchange(onWrite: (text: string) => void, onEnd: () => void): Exchange {
  const body = new TextEncoder().encode(
    JSON.stringify({ threadId: "t", runId: "r", messages: [user] }),
  );
  const sink: Sink = {
    pending: 0,
    onDrain: undefined,
    onClose: undefined,
    write(chunk) {
      onWrite(String(chunk));
      return true;
    },
    end: onEnd,
    destroy: onEnd,
  };
  return {
    method: "POST",
    path: "/agui",
    query: "",
    onLeave: () => undefined,
    request: undefined as never,
    header: (name) => (name === "content-type" ? "application/json" : undefined),
    async *body() {
      yield body;
    },
    reply: () => sink,
  };
}

/** What a store is when every answer of it takes a turn. */
function slow(store: SessionStore): SessionStore {
  return {
    ...store,
    update: async (...args) => {
      await turn();
      return store.update(...args);
    },
  };
}

const failing: Readonly<Record<string, (note: (what: string) => void) => AgentFunction>> = {
  "an agent that throws": (note) =>
    async function* (_input, { signal }) {
      signal.addEventListener("abort", () => note("aborted"));
      yield "half";
      throw new Error("broken");
    },
  "an Observable that says RUN_ERROR":
    (note) =>
    (_input, { signal, logger }) => {
      signal.addEventListener("abort", () => note("aborted"));
      return {
        subscribe(observer) {
          queueMicrotask(() => {
            observer.next({ type: "TEXT_MESSAGE_CHUNK", delta: "half" } as never);
            logger.error({}, "broken");
            observer.next({ type: "RUN_ERROR", message: "broken" } as never);
          });
          return { unsubscribe: () => note("cleaned up") };
        },
      };
    },
  "an agent that says RUN_ERROR": (note) =>
    async function* (_input, { signal, logger }) {
      signal.addEventListener("abort", () => note("aborted"));
      try {
        yield "half";
        logger.error({}, "broken");
        yield { type: "RUN_ERROR", message: "broken" };
        await new Promise(() => undefined);
      } finally {
        note("never: it waits for what does not come");
      }
    },
  "an agent that rejects":
    (note) =>
    (_input, { signal, emit }) => {
      signal.addEventListener("abort", () => note("aborted"));
      void emit.text("half");
      return Promise.reject(new Error("broken"));
    },
};

describe.for([
  { store: "a store that answers at once", make: () => memorySessions() },
  { store: "a store that takes its time", make: () => slow(memorySessions()) },
])("when a run fails on $store", ({ make }) => {
  test.for(Object.keys(failing))(
    "%s: logged, sent to the client, cleaned up, aborted, and the session stays",
    async (kind) => {
      const order: string[] = [];
      const note = (what: string): void => void order.push(what);
      const logger = memoryLogger();
      const sessions = make();
      const dispose = vi.fn(() => note("disposed"));
      const handler = createAgentHandler(failing[kind]!(note), {
        logger: { ...logger, error: () => note("logged") },
        sessions,
        createSession: () => ({ dispose }),
      });
      const done = new Promise<void>((resolve) => {
        void handler.handle(
          exchange((text) => text.includes("RUN_ERROR") && note("told"), resolve),
        );
      });
      await done;
      await turn();
      await turn();
      // What has thrown is gone, and what waits cannot hear; an Observable is unsubscribed from.
      const cleanUp = kind.startsWith("an Observable") ? ["cleaned up"] : [];
      expect(order).toEqual(["logged", "told", ...cleanUp, "aborted"]);
      const session = await sessions.get(key);
      expect(session).toMatchObject({
        lastRunId: "r",
        messages: [user, { content: "half", metadata: { incomplete: true } }],
      });
      expect(session!.active ?? null).toBe(null);
      expect(dispose).not.toHaveBeenCalled();
      await handler.close();
      expect(order.at(-1)).toBe("disposed");
    },
  );
});

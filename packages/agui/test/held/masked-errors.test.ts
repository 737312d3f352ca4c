// What fails inside a server carries paths, addresses, statements and stacks. Every kind of failure, met by a request of
// every operation: none of it is in an answer.
import { Observable } from "rxjs";
import { expect, test } from "vitest";
import { z } from "zod";
import { memorySessions } from "@holodeck/agui-sessions";
import type { SessionStore } from "@holodeck/agui-core";
import { held } from "../../../../scripts/test-support/held.ts";
import { createAgentHandler, mapEvents } from "../../src/index.ts";
import type { AgentFunction, AgentHandlerOptions } from "../../src/index.ts";
import { attemptsOn, nothingAsked, toRequest } from "../_attempts.ts";
import { everyProtocol } from "../_every-protocol.ts";
import { memoryLogger, post } from "../_helpers.ts";

const marks = ["/srv/vault/app.ts", "10.1.2.3", "SELECT pin FROM", "hunter2", "at leak ("];
const text =
  "connect ECONNREFUSED 10.1.2.3:5432: SELECT pin FROM cards, hunter2, /srv/vault/app.ts";

function withAll<T extends Error>(error: T): T {
  error.stack = `${error.name}: ${text}\n    at leak (/srv/vault/app.ts:1:1)`;
  const more = { path: "/srv/vault/app.ts", address: "10.1.2.3", sql: "SELECT pin FROM cards" };
  return Object.assign(error, more);
}

const failure = (): Error => withAll(new Error(text));

/** What may be thrown. */
const thrown: Readonly<Record<string, () => unknown>> = {
  "an Error": failure,
  "a TypeError": () => withAll(new TypeError(text)),
  "a RangeError": () => withAll(new RangeError(text)),
  "a SyntaxError of JSON.parse": () => {
    try {
      return JSON.parse("hunter2 at /srv/vault/app.ts");
    } catch (error) {
      return error;
    }
  },
  "an error with a cause": () => new Error(text, { cause: failure() }),
  "an AggregateError": () => new AggregateError([failure()], text),
  "a DOMException": () => new DOMException(text, "AbortError"),
  "an error of the system": () => Object.assign(failure(), { code: "ECONNREFUSED", errno: -111 }),
  "an error whose code is a secret": () => Object.assign(failure(), { code: "hunter2" }),
  "an error with a status": () => Object.assign(failure(), { status: 418, expose: true }),
  "an error with a name": () => Object.assign(failure(), { name: "hunter2" }),
  "a copy of an AgentError": () => ({
    name: "AgentError",
    code: "timeout",
    status: 400,
    message: text,
  }),
  "an error of zod": () => z.object({ hunter2: z.literal("SELECT pin FROM") }).safeParse({}).error,
  "a string": () => text,
  "an object": () => ({ message: text, stack: text }),
  "an object with toJSON": () => ({ toJSON: () => text, toString: () => text }),
  "a list": () => [text],
  "a function": () => () => text,
  "a symbol": () => Symbol(text),
  "an error that cannot be read": () =>
    Object.defineProperty(failure(), "message", {
      get: () => {
        throw failure();
      },
    }),
};

interface Failing {
  readonly agent?: AgentFunction;
  readonly options?: AgentHandlerOptions;
}

/** The methods of a store and of its log that requests use. */
const storeMethods = ["get", "create", "update", "list", "delete"] as const;
const logMethods = ["open", "append", "find", "active", "requestStop"] as const;

const fail = (): never => {
  throw failure();
};

/** Where it may be thrown. `isOn` is false while the threads are made. */
function places(isOn: () => boolean): Readonly<Record<string, Failing>> {
  const failing = (): void => void (isOn() && fail());
  const tool = {
    name: "vault",
    description: "Opens the vault.",
    parameters: { type: "object" },
    invoke: failing,
  };
  return {
    "a promise of the agent": { agent: async () => failing() },
    "the agent, at once": { agent: () => (failing(), "ok") },
    "the agent, in the middle": {
      async *agent() {
        yield "ok";
        failing();
      },
    },
    "an Observable": {
      agent: (() =>
        new Observable((subscriber) => {
          if (isOn()) subscriber.error(failure());
          else subscriber.complete();
        })) as AgentFunction,
    },
    "a step of the agent": {
      agent: async (_input, { emit }) => emit.step("open", () => failing() as never),
    },
    "a tool": {
      agent: async (_input, { callTool }) => String(await callTool("vault", {})),
      options: { tools: [tool] },
    },
    "middleware around a request": {
      options: { middleware: [{ name: "own", request: async (_, next) => (failing(), next()) }] },
    },
    "middleware before the run": {
      options: { middleware: [(input, context, next) => (failing(), next(input, context))] },
    },
    "middleware in the run": {
      options: { middleware: [mapEvents((event) => (failing(), event))] },
    },
    "admission of a run": {
      options: { middleware: [{ name: "own", admit: async () => failing() }] },
    },
    authenticate: { options: { authenticate: () => (failing(), { id: "ann" }) } },
    "a promise of authenticate": {
      options: { authenticate: async () => (failing(), { id: "ann" }) },
    },
    createSession: { options: { createSession: async () => (failing(), {}) } },
    exposeSessionState: { options: { exposeSessionState: () => (failing(), {}) } },
    "a health check": {
      options: { health: { checks: { vault: async () => failing() } } },
    },
    ...Object.fromEntries(
      [...storeMethods, ...logMethods].map((method): [string, Failing] => [
        `the store's ${method}`,
        { options: { sessions: failingStore(method, isOn) } },
      ]),
    ),
  };
}

function failingStore(method: string, isOn: () => boolean): SessionStore {
  const wrap = <T extends object>(target: T): T =>
    new Proxy(target, {
      get(of, key) {
        const value: unknown = Reflect.get(of, key, of);
        if (key === "runs") return wrap(value as object);
        if (typeof value !== "function") return value;
        return (...args: unknown[]) => {
          if (key === method && isOn()) fail();
          return (value as (...all: unknown[]) => unknown).apply(of, args);
        };
      },
    });
  return wrap(memorySessions());
}

const ids = { threadId: "t-1", sessionId: "01ARZ3NDEKTSV4RRFFQ69G5FAV", runId: "r-1" };
const asked = { ...nothingAsked, user: "ann" };

interface Outcome {
  tried: number;
  /** Answers with something of the failure in them. */
  readonly leaks: string[];
  /** Whether an answer shows that something failed. */
  isMet: boolean;
}

/** A request of every operation to a server that fails in that way. */
async function request(failing: Failing, options: AgentHandlerOptions = {}): Promise<Outcome> {
  const handler = createAgentHandler(failing.agent ?? (async () => "ok"), {
    logger: memoryLogger(),
    protocols: everyProtocol(),
    authenticate: () => ({ id: "ann" }),
    ...failing.options,
    ...options,
  });
  const outcome: Outcome = { tried: 0, leaks: [], isMet: false };
  const run = { protocolVersion: "1.0", messages: [{ id: "m", role: "user", content: "hi" }] };
  isFailing = false;
  for (const threadId of [ids.threadId, ids.sessionId]) {
    await (
      await handler.fetch(post({ ...run, threadId, runId: `${ids.runId}-${threadId}` }))
    ).text();
  }
  isFailing = true;
  for (const [route, attempts] of Object.entries(attemptsOn(ids))) {
    for (const attempt of attempts) {
      const response = await handler.fetch(toRequest(route, attempt, asked));
      const body = await response.text();
      const all = `${response.statusText} ${JSON.stringify([...response.headers])} ${body}`;
      outcome.tried++;
      if (marks.some((mark) => all.includes(mark))) outcome.leaks.push(`${route}: ${all}`);
      outcome.isMet ||= response.status >= 500 || /RUN_ERROR|"error"|unhealthy/.test(body);
    }
  }
  isFailing = false;
  await handler.close({ timeoutMs: 0 });
  return outcome;
}

let isFailing = false;
const throwing = (value: () => unknown): Failing => ({
  agent: async () => {
    if (isFailing) throw value();
    return "ok";
  },
});

test("no answer has a path, an address, a statement or a stack in it, whatever fails", async () => {
  const kinds = [
    ...Object.entries(thrown).map(([name, value]): [string, Failing] => [name, throwing(value)]),
    ...Object.entries(places(() => isFailing)),
  ];
  let tried = 0;
  const leaks: string[] = [];
  const unmet: string[] = [];
  for (const [name, failing] of kinds) {
    const outcome = await request(failing);
    tried += outcome.tried;
    leaks.push(...outcome.leaks.map((leak) => `${name}: ${leak}`));
    if (!outcome.isMet) unmet.push(name);
  }
  expect(unmet, "failures that no request met").toEqual([]);
  expect(kinds.length).toBeGreaterThanOrEqual(38);
  held("answers to requests that meet a failure", tried, leaks);
});

test("with debug the messages are in the answers, and are found there", async () => {
  const { leaks } = await request(throwing(failure), { debug: true });
  expect(leaks.length).toBeGreaterThan(5);
});

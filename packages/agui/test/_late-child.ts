import { EventEmitter } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";
import type {
  AgentFunction,
  BaseEvent,
  Emit,
  Logger,
  RunContext,
  ServerTool,
  SessionStore,
} from "@holodeck/agui-core";
import { mapEvents } from "@holodeck/agui-core";
import { toNodeHandler } from "@holodeck/agui-node";
import { memorySessions } from "@holodeck/agui-sessions";
import { Observable } from "rxjs";
import { createAgentHandler } from "../src/index.ts";
import { lateForms, lateSources } from "./_late-kinds.ts";
import type { LateEnding, LateForm, LateSource } from "./_late-kinds.ts";

// A server whose agents go on after the end of their runs, in every way that an author's slip can. Nothing
// here catches anything: what the library throws or rejects with ends this process.
const ending = process.argv[2] as LateEnding;
const print = (line: object): void => void process.stdout.write(`${JSON.stringify(line)}\n`);
const log =
  (level: string) =>
  (fields: object, message = ""): void => {
    const { runId, agentId, call } = fields as Record<string, unknown>;
    print({ level, message, runId, agentId, call });
  };
const logger: Logger = {
  debug: () => {},
  info: () => {},
  warn: log("warn"),
  error: log("error"),
};

/** What was made before the end. */
interface Kept {
  readonly writer: ReturnType<Emit["message"]>;
  readonly reader: Emit;
}

type Method = (context: RunContext, kept: Kept) => unknown;

async function* words(): AsyncGenerator<string> {
  yield '{"a":';
  yield "1}";
}

const circular: Record<string, unknown> = {};
circular.self = circular;

const methods: readonly Method[] = [
  ({ emit }) => emit.text("late"),
  ({ emit }) => emit.reasoning("late"),
  ({ emit }) => emit.message().id.length,
  ({ emit }) => emit.message({ id: "m", role: "developer" }).text("late"),
  (_context, { writer }) => writer.text("late"),
  (_context, { writer }) => writer.end(),
  ({ emit }) => emit.toolCall("weather", { city: "Bern" }).length,
  ({ emit }) => emit.toolCall("weather", circular),
  ({ emit }) => emit.toolCall("weather", words()),
  ({ emit }) => emit.toolResult("call", "late"),
  ({ emit }) => emit.toolResult("call", circular),
  ({ emit }) => emit.step("late", () => 1),
  ({ emit }) => emit.step("late", undefined as never),
  ({ emit }) => emit.activity("plan", { a: 1 }).length,
  ({ emit }) => emit.activity("plan", circular).length,
  ({ emit }) => emit.messages([]),
  ({ emit }) => emit.predictState([{ state_key: "a", tool: "b", tool_argument: "c" }]),
  ({ emit }) => emit.custom("late", 1),
  ({ emit }) => emit.custom("late", circular),
  ({ emit }) => emit.raw({ a: 1 }, "somewhere"),
  ({ emit }) => emit.subagent("late", (reader) => reader.text("late")),
  ({ emit }) => emit.subagent("late", undefined as never),
  ({ emit }) => emit.interrupt({ reason: "input_required" }).length,
  ({ emit }) => emit.usage({ inputTokens: 1, outputTokens: 1 }),
  ({ emit }) => emit.event({ type: "CUSTOM", name: "late", value: 1 }),
  (_context, { reader }) => reader.text("late"),
  (_context, { reader }) => reader.event(undefined as never),
  ({ state }) => state.get(),
  ({ state }) => state.set({ late: true }),
  ({ state }) => state.update<{ late: boolean }>((draft) => void (draft.late = true)),
  ({ state }) => state.update(async () => {}),
  ({ state }) => state.patch([{ op: "replace", path: "/not/there", value: 1 }]),
  ({ state }) => state.resync(),
  ({ session }) => session.get("late"),
  ({ session }) => session.set("late", 1),
  ({ callTool }) => callTool("weather", { city: "Bern" }),
  ({ callTool }) => callTool("nope", circular),
  ({ callTool }) => callTool("refund", {}),
  ({ callTools }) => callTools([{ name: "weather", args: {} }]),
  ({ callTools }) => callTools(undefined as never),
];

/** Calls `late` with each method once the run has ended. */
type Source = (isOver: () => boolean, late: (method: Method) => unknown) => Promise<void>;

async function until(isOver: () => boolean): Promise<void> {
  while (!isOver()) await nextTurn();
}

const sources: Record<LateSource, Source> = {
  setInterval: (isOver, late) =>
    new Promise((resolve) => {
      let ticks = 0;
      const timer = setInterval(() => {
        if (!isOver()) return void late(methods[0]!);
        for (const method of methods) late(method);
        if (++ticks < 3) return;
        clearInterval(timer);
        resolve();
      }, 1);
    }),
  EventEmitter: async (isOver, late) => {
    const sdk = new EventEmitter().on("content", (method: Method) => late(method));
    sdk.emit("content", methods[0]);
    await until(isOver);
    for (const method of methods) sdk.emit("content", method);
  },
  "a promise that settles later": async (isOver, late) => {
    const later = until(isOver);
    await Promise.allSettled(
      methods.map((method) => {
        // Dropped, as in an agent that does not wait for it.
        void later.then(() => late(method));
        return later;
      }),
    );
  },
  queueMicrotask: async (isOver, late) => {
    await until(isOver);
    for (const method of methods) queueMicrotask(() => late(method));
  },
  "an async listener": async (isOver, late) => {
    const sdk = new EventEmitter().on("content", async (method: Method) => {
      await late(method);
      await late(method);
    });
    sdk.emit("content", methods[0]);
    await until(isOver);
    for (const method of methods) sdk.emit("content", method);
  },
};

function toAgent(source: LateSource, form: LateForm): AgentFunction {
  let finished = false;
  const finish = (context: RunContext): BaseEvent => {
    finished = true;
    const { threadId, runId } = context;
    return { type: "RUN_FINISHED", threadId, runId } as BaseEvent;
  };
  const begin = async (context: RunContext): Promise<void> => {
    const writer = context.emit.message();
    let reader!: Emit;
    // Of a subagent that goes on: its writer is still there when the run is over.
    await context.emit.subagent("reader", (own) => {
      reader = own;
    });
    const kept: Kept = { writer, reader };
    if (ending !== "RUN_FINISHED" && ending !== "close") {
      const listener = async (): Promise<void> => {
        const { length } = (await context.callTool("slow", {})) as string;
        throw new Error(`A call that was aborted has a result of ${length}.`);
      };
      void listener();
      void context.emit.step("slow", () => listener());
    }
    const isOver = (): boolean => context.signal.aborted || finished;
    await sources[source](isOver, (method) => method(context, kept));
    // What was refused is logged in a later turn.
    for (let turns = 0; turns < 10; turns++) await nextTurn();
    print({ fired: context.runId });
  };
  const isOwn = ending === "RUN_FINISHED";
  const forever = (context: RunContext): Promise<void> =>
    ending === "close" ? nextTurn() : until(() => context.signal.aborted);
  const forms: Record<LateForm, AgentFunction> = {
    "async function": async (_input, context) => {
      await context.emit.text("ready");
      void begin(context);
      await nextTurn();
      if (ending === "append") void context.emit.custom("fail", 1);
      if (isOwn) await context.emit.event(finish(context));
      else await forever(context);
    },
    "async generator": async function* (_input, context) {
      yield "ready";
      void begin(context);
      await nextTurn();
      if (ending === "append") yield { type: "CUSTOM", name: "fail", value: 1 };
      if (isOwn) yield finish(context);
      else await forever(context);
    },
    Observable: (_input, context) =>
      new Observable<BaseEvent | string>((subscriber) => {
        const speak = async (): Promise<void> => {
          subscriber.next("ready");
          void begin(context);
          await nextTurn();
          if (ending === "append")
            subscriber.next({ type: "CUSTOM", name: "fail", value: 1 } as BaseEvent);
          if (isOwn) subscriber.next(finish(context));
          else await forever(context);
          // As an async subscribe function does, whose promise nothing awaits.
          await context.emit.text("late");
          await context.emit.text("late");
          subscriber.complete();
        };
        void speak();
      }),
  };
  return forms[form];
}

/** A store in memory that is away when it is asked to. */
function failingSessions(): SessionStore {
  const store = memorySessions();
  const away = (): never => {
    throw new Error("The store is away.");
  };
  const runs = proxy(store.runs, {
    append: (lease, batch) =>
      ending === "append" && JSON.stringify(batch).includes('"fail"')
        ? away()
        : store.runs.append(lease, batch),
    close: (lease, terminal, status) =>
      ending === "close" && lease.runId.startsWith("late")
        ? away()
        : store.runs.close(lease, terminal, status),
  });
  return proxy(store, { runs });
}

function proxy<T extends object>(target: T, own: Partial<T>): T {
  return new Proxy(target, {
    get: (_target, key) => {
      const member: unknown = Reflect.get(key in own ? own : target, key);
      return typeof member === "function" ? (member.bind(target) as unknown) : member;
    },
  });
}

const tool = { description: "", parameters: { type: "object" } };
const agents = Object.fromEntries(
  lateSources.flatMap((source) =>
    lateForms.map((form): [string, AgentFunction] => [
      `${source}, ${form}`,
      (input, context) => toAgent(source, form)(input, context),
    ]),
  ),
);
const tools: ServerTool[] = [
  { ...tool, name: "weather", invoke: () => "sunny" },
  { ...tool, name: "refund", needsApproval: true, invoke: () => "refunded" },
  { ...tool, name: "slow", invoke: () => new Promise(() => {}) },
  { ...tool, name: "broken", invoke: () => Promise.reject(new Error("broken")) },
];
const broken = async function* (): AsyncGenerator<string> {
  yield "{";
  throw new Error("broken");
};
/** Agents that forget to await, by what they call. */
const forgetful: Record<string, (context: RunContext) => unknown> = {
  'callTool("nope")': ({ callTool }) => callTool("nope", {}),
  'callTool("broken")': ({ callTool }) => callTool("broken", {}),
  'callTool("refund")': ({ callTool }) => callTool("refund", {}),
  'callTools("nope", "broken")': ({ callTools }) =>
    callTools([
      { name: "nope", args: {} },
      { name: "broken", args: {} },
    ]),
  'emit.step("plan")': ({ emit }) => emit.step("plan", () => Promise.reject(new Error("broken"))),
  'emit.subagent("reader")': ({ emit }) =>
    emit.subagent("reader", () => Promise.reject(new Error("broken"))),
  'emit.toolCall("weather")': ({ emit }) => emit.toolCall("weather", broken()),
};
const handlers = (["/plain", "/layered"] as const).map((basePath) =>
  createAgentHandler(
    {
      ...agents,
      ...Object.fromEntries(
        Object.entries(forgetful).map(([name, call]): [string, AgentFunction] => [
          name,
          async (_input, context) => {
            void call(context);
            return "Done";
          },
        ]),
      ),
      hello: async () => "Hello",
    },
    {
      basePath,
      defaultAgent: "hello",
      logger,
      sessions: failingSessions(),
      limits: ending === "timeout" ? { runTimeoutMs: 500 } : {},
      tools,
      middleware:
        basePath === "/plain"
          ? []
          : [mapEvents((event) => event), (input, context, next) => next(input, context)],
    },
  ),
);
const other = createAgentHandler(async () => "Hello", { basePath: "/other", logger });
const [plain, layered, served] = [...handlers, other].map((handler) => toNodeHandler(handler));
const server = createServer((request, response) => {
  const { url = "" } = request;
  if (url === "/close") {
    void Promise.all(handlers.map((handler) => handler.close({ timeoutMs: 1 }))).then(() =>
      response.end(),
    );
  } else if (url.startsWith("/plain")) plain!(request, response);
  else if (url.startsWith("/layered")) layered!(request, response);
  else served!(request, response);
}).listen(0, "127.0.0.1", () => print({ port: (server.address() as AddressInfo).port }));

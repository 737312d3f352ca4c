import type { Message } from "@ag-ui/core";
import type { ClientTools } from "./client-tools.ts";
import { systemClock } from "../base/time/clock.ts";
import { defaultLimits } from "../contract/limits.ts";
import { silentLogger } from "../base/logger.ts";
import type { SettledCall, SettledCalls, UsedAnswers } from "./answers.ts";
import type { Awaitable } from "../contract/agent.ts";
import type { Clock, Logger } from "../contract/context.ts";
import type { AskedCall, InterruptAnswer, ServerTool, TakenCall } from "../contract/tools.ts";

export const nothingAsked: ReadonlyMap<string, AskedCall> = new Map();
const noHistory: readonly Message[] = Object.freeze([]);
const nothingLost: readonly TakenCall[] = Object.freeze([]);

export interface ToolDeskInit {
  readonly toolTimeoutMs?: number;
  readonly clock?: Clock;
  readonly clientTools?: ClientTools | undefined;
  readonly logger?: Logger;
  /** Calls of an earlier run whose process ended before they had a result. */
  readonly lost?: readonly TakenCall[] | undefined;
  /** What the thread holds when the run begins. */
  readonly history?: readonly Message[] | undefined;
}

/** What was settled before the agent began. */
export interface Settled {
  /** Calls of an earlier run that are not made again. */
  readonly lost: readonly SettledCall[];
  /** Calls that a person has answered. */
  readonly made: readonly SettledCall[];
}

/**
 * Shared by all code that calls tools in one run. Most runs call none, so its members are created on first
 * use.
 */
export class RunTools {
  readonly timeoutMs: number;
  readonly clock: Clock;
  readonly answers: readonly InterruptAnswer[];
  readonly lost: readonly TakenCall[];
  readonly history: readonly Message[];
  /** Set when the client can answer during the run. */
  readonly clientTools: ClientTools | undefined;
  /** The answered calls, once they are made before the agent begins. */
  settling: Promise<Settled> | undefined = undefined;
  /** The agent that was begun with their results. */
  settledFor: object | undefined = undefined;
  readonly #logger: Logger;
  #used: UsedAnswers | undefined;
  #asked: Map<string, AskedCall> | undefined;
  #settled: SettledCalls | undefined;
  #brought: Set<ServerTool> | undefined;
  #disposers: Disposers | undefined;

  constructor(init: ToolDeskInit, answers: readonly InterruptAnswer[]) {
    this.timeoutMs = init.toolTimeoutMs ?? defaultLimits.toolTimeoutMs;
    this.clock = init.clock ?? systemClock;
    this.answers = answers;
    this.lost = init.lost ?? nothingLost;
    this.history = init.history ?? noHistory;
    this.clientTools = init.clientTools;
    this.#logger = init.logger ?? silentLogger;
  }

  get used(): UsedAnswers {
    return (this.#used ??= new Set());
  }

  /** The calls that people were asked about, by the id of the interrupt. */
  get asked(): ReadonlyMap<string, AskedCall> {
    return this.#asked ?? nothingAsked;
  }

  ask(interruptId: string, call: AskedCall): void {
    (this.#asked ??= new Map()).set(interruptId, call);
  }

  /** The calls that are made on an answer before the agent begins, by their ids. */
  get settled(): SettledCalls {
    return (this.#settled ??= new Map());
  }

  /** Whether a call was made, or is being made, on an answer before the agent begins. */
  isSettled(id: string, name: string): boolean {
    const settled = this.#settled;
    if (!settled?.has(id)) return false;
    return (settled.get(id)?.call.name ?? name) === name;
  }

  /** Takes note of tools that the agent has besides the handler's. */
  bring(tools: readonly ServerTool[]): void {
    this.#brought ??= new Set();
    for (const tool of tools) this.#brought.add(tool);
  }

  isBrought(tool: ServerTool): boolean {
    return this.#brought?.has(tool) ?? false;
  }

  get disposers(): Disposers {
    return (this.#disposers ??= new Disposers(this.#logger));
  }
}

// By a name that every copy of this package knows.
const disposer = Symbol.for("@holodeck/agui.dispose");

interface Disposing {
  readonly result: unknown;
  readonly [disposer]: () => Awaitable<void>;
}

/**
 * A tool's result together with what has to be tidied up when the run ends, however it ends.
 *
 * @example
 * ```ts
 * execute: async ({ path }) => {
 *   const file = await open(path);
 *   return withDispose(await file.stat(), () => file.close());
 * }
 * ```
 */
export function withDispose(result: unknown, dispose: () => Awaitable<void>): unknown {
  if (typeof dispose !== "function") {
    throw new TypeError("withDispose(result, dispose) takes a function as its second argument.");
  }
  return { result, [disposer]: dispose } satisfies Disposing;
}

/** What the tools of one run leave to be tidied up. */
export class Disposers {
  readonly #logger: Logger;
  #kept: (() => Awaitable<void>)[] | undefined;
  #isOver = false;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** The bare result. What came with it is kept, or tidied up at once if the run is over. */
  take(returned: unknown): unknown {
    if (!isDisposing(returned)) return returned;
    if (this.#isOver) void this.#dispose(returned[disposer]);
    else (this.#kept ??= []).push(returned[disposer]);
    return returned.result;
  }

  /** Tidies up, the newest first, each once. */
  run(): void {
    this.#isOver = true;
    if (this.#kept) void this.#disposeAll(this.#kept);
  }

  async #disposeAll(kept: (() => Awaitable<void>)[]): Promise<void> {
    for (let one = kept.pop(); one; one = kept.pop()) await this.#dispose(one);
  }

  async #dispose(one: () => Awaitable<void>): Promise<void> {
    try {
      await one();
    } catch (error) {
      this.#logger.error({ error }, "The dispose function of a tool result failed.");
    }
  }
}

function isDisposing(value: unknown): value is Disposing {
  return typeof value === "object" && value !== null && disposer in value;
}

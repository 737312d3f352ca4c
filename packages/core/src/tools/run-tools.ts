import type { Message } from "@ag-ui/core";
import type { ClientTools } from "./client-tools.ts";
import { systemClock } from "../base/ticker.ts";
import { defaultLimits } from "../contract/limits.ts";
import { silentLogger } from "../base/logger.ts";
import type { SettledCall, SettledCalls, UsedAnswers } from "./answers.ts";
import { Disposers } from "./disposers.ts";
import type { Clock, Logger } from "../contract/context.ts";
import type { AskedCall, InterruptAnswer, ServerTool, TakenCall } from "../contract/tools.ts";

export const nothingAsked: ReadonlyMap<string, AskedCall> = new Map();
const nothingSaid: readonly Message[] = Object.freeze([]);
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
    this.history = init.history ?? nothingSaid;
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

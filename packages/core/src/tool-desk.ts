import type { ClientTools } from "./client-tools.ts";
import { systemClock } from "./clock.ts";
import { defaultLimits } from "./limits.ts";
import { silentLogger } from "./logger.ts";
import type { UsedAnswers } from "./tool-answers.ts";
import { Disposers } from "./tool-disposers.ts";
import type { AskedCall, Clock, InterruptAnswer, Logger } from "./types.ts";

export const nothingAsked: ReadonlyMap<string, AskedCall> = new Map();

export interface ToolDeskInit {
  readonly toolTimeoutMs?: number;
  readonly clock?: Clock;
  readonly clientTools?: ClientTools | undefined;
  readonly logger?: Logger;
}

/** What all who call tools in one run share. Most runs call none, so what it keeps is made on first use. */
export class ToolDesk {
  readonly timeoutMs: number;
  readonly clock: Clock;
  readonly answers: readonly InterruptAnswer[];
  /** Set where the client answers while the run goes on. */
  readonly clientTools: ClientTools | undefined;
  readonly #logger: Logger;
  #used: UsedAnswers | undefined;
  #asked: Map<string, AskedCall> | undefined;
  #disposers: Disposers | undefined;

  constructor(init: ToolDeskInit, answers: readonly InterruptAnswer[]) {
    this.timeoutMs = init.toolTimeoutMs ?? defaultLimits.toolTimeoutMs;
    this.clock = init.clock ?? systemClock;
    this.answers = answers;
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

  get disposers(): Disposers {
    return (this.#disposers ??= new Disposers(this.#logger));
  }
}

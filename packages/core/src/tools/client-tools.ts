import type { Tool } from "@ag-ui/core";
import { AgentError } from "../contract/errors.ts";
import type { Awaitable } from "../contract/agent.ts";
import type { RunCommand } from "../contract/run-log.ts";
import type { Pending } from "../contract/session-store.ts";

/** The command that brings the result of a client tool, or why there is none. */
export type ToolResultCommand = RunCommand & { type: "tool-result" };

/** Where it is written down what a run has asked its client, so that every process can find it. */
export interface Questions {
  /** Called before the client receives the call. */
  open(question: Pending): Awaitable<unknown>;
  /** Called when the run stops waiting for the answer. */
  close(id: string): Awaitable<unknown>;
}

/** A call of a client tool, as the run makes it. */
export interface ClientToolCall {
  readonly id: string;
  /** The tool's own; absent: the run's. */
  readonly timeoutMs: number | undefined;
  /** The duration reported by the client, once it has answered. */
  readonly executionTimeMs: number | undefined;
  /** Stores the question. The call may be sent to the client afterwards. */
  ask(args: unknown): Awaitable<unknown>;
  /** Resolves with the client's result, or rejects with its error. */
  invoke(): Promise<unknown>;
  /** Given up, or answered: an answer that still comes is dropped. */
  end(): void;
}

/** The client's tools of one run that waits for their results instead of ending with them. */
export interface ClientTools {
  /** A new call of an offered tool; nothing when the client offers none of that name. */
  call(name: string, offered?: readonly Tool[]): ClientToolCall | undefined;
  /** False: no call waits for it. */
  answer(command: ToolResultCommand): boolean;
}

/** The broker of one run: questions go out with its events, answers come in as its commands. */
export class ClientToolBroker implements ClientTools {
  readonly #runId: string;
  readonly #tools: readonly Tool[];
  readonly #questions: Questions;
  #waiting: Map<string, WaitingCall> | undefined;
  #calls = 0;

  constructor(options: { runId: string; tools: readonly Tool[]; questions: Questions }) {
    this.#runId = options.runId;
    this.#tools = options.tools;
    this.#questions = options.questions;
  }

  call(name: string, offered: readonly Tool[] = this.#tools): ClientToolCall | undefined {
    const tool = offered.find((one) => one.name === name);
    if (!tool) return undefined;
    // The id contains the run's id: the sender of the answer needs nothing else to find it. It is
    // short, and uses only letters that every model's API accepts in the id of a call.
    const id = `${this.#runId}-${++this.#calls}`;
    const call = new WaitingCall(this, id, tool);
    (this.#waiting ??= new Map()).set(id, call);
    return call;
  }

  /** Whether this is the id of a call that was made here. */
  hasAsked(id: string): boolean {
    const number = Number(id.slice(this.#runId.length + 1));
    return id === `${this.#runId}-${number}` && number > 0 && number <= this.#calls;
  }

  answer(command: ToolResultCommand): boolean {
    const call = this.#waiting?.get(command.toolCallId);
    if (!call) return false;
    this.#waiting?.delete(command.toolCallId);
    call.settle(command);
    return true;
  }

  ask(id: string, value: { name: string; args: unknown }): Awaitable<unknown> {
    return this.#questions.open({ id, kind: "tool", runId: this.#runId, value });
  }

  giveUp(id: string): void {
    if (this.#waiting?.delete(id)) void forget(this.#questions, id);
  }
}

class WaitingCall implements ClientToolCall {
  readonly id: string;
  readonly timeoutMs: number | undefined;
  executionTimeMs: number | undefined;
  readonly #broker: ClientToolBroker;
  readonly #name: string;
  readonly #answered: Promise<unknown>;
  #resolve!: (result: unknown) => void;
  #reject!: (reason: AgentError) => void;

  constructor(broker: ClientToolBroker, id: string, tool: Tool) {
    this.id = id;
    this.timeoutMs = ownTimeout(tool);
    this.executionTimeMs = undefined;
    this.#broker = broker;
    this.#name = tool.name;
    this.#answered = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    // The run may end before the answer is awaited.
    this.#answered.catch(() => {});
  }

  ask(args: unknown): Awaitable<unknown> {
    return this.#broker.ask(this.id, { name: this.#name, args });
  }

  invoke(): Promise<unknown> {
    return this.#answered;
  }

  end(): void {
    this.#broker.giveUp(this.id);
  }

  settle({ result = null, error, executionTimeMs }: ToolResultCommand): void {
    this.executionTimeMs = executionTimeMs;
    if (error === undefined) this.#resolve(result);
    else this.#reject(new AgentError("tool-error", error));
  }
}

/** The run that a client tool's call belongs to, from the call's id; nothing for any other id. */
export function runOfClientCall(toolCallId: string): string | undefined {
  return /^(.+)-\d+$/s.exec(toolCallId)?.[1];
}

// A question that stays behind is closed with its run.
async function forget(questions: Questions, id: string): Promise<void> {
  try {
    await questions.close(id);
  } catch {
    // The store is not reachable; the run will fail on its own.
  }
}

function ownTimeout({ metadata }: Tool): number | undefined {
  const ms = metadata?.timeoutMs;
  return typeof ms === "number" && ms > 0 ? ms : undefined;
}

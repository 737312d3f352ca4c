import type { BaseEvent, Message, RunAgentInput } from "@ag-ui/core";
import { callsIn } from "../base/calls-in.ts";
import { AgentError } from "../contract/errors.ts";
import { toVerdict } from "./approval.ts";
import type { Verdict } from "./approval.ts";
import { cloneJson, isEqualJson } from "../json/copy.ts";
import type {
  AskedCall,
  InterruptAnswer,
  ToolCallOutcome,
  ToolCallRequest,
} from "../contract/tools.ts";

/** A call that was made on an answer before the agent began. */
export interface SettledCall {
  readonly call: AskedCall;
  readonly outcome: ToolCallOutcome;
  /** Call and result as the client receives them, the call only where the thread lacks it. */
  readonly events: readonly BaseEvent[];
}

/** Such calls by their ids; nothing while one is being made. */
export type SettledCalls = Map<string, SettledCall | undefined>;

/** An answer that this turn has had already. */
interface PastAnswer {
  readonly id: string;
  readonly result?: unknown;
  readonly error?: AgentError;
}

/** Records which answers were used, for all code that calls tools in one run. */
export type UsedAnswers = Set<string>;

const nothing: readonly never[] = Object.freeze([]);

/** The answers that a run was started with. Each is used once. */
export class ToolAnswers {
  readonly #answers: readonly InterruptAnswer[];
  readonly #input: RunAgentInput | undefined;
  readonly #used: UsedAnswers;
  readonly #settled: Readonly<SettledCalls>;
  #turn: readonly PastCall[] | undefined;

  constructor(parts: {
    answers: readonly InterruptAnswer[];
    input: RunAgentInput | undefined;
    used: UsedAnswers;
    settled: SettledCalls;
  }) {
    this.#answers = parts.answers;
    this.#input = parts.input;
    this.#used = parts.used;
    this.#settled = parts.settled;
  }

  /** The user's answer to exactly this call: the same id, or the same name and arguments. */
  verdict({ id, name, args }: ToolCallRequest): Verdict | undefined {
    const found = this.#answers.find(({ call }) => {
      if (call === undefined || this.#used.has(call.id)) return false;
      if (this.#settled.has(call.id)) return false;
      return id === undefined ? isSame(call, name, args) : call.id === id && call.name === name;
    });
    if (!found?.call) return undefined;
    this.#used.add(found.call.id);
    return toVerdict(found.call, found);
  }

  /** The outcome of a call with this id that was made before the agent began. */
  settled({ id, name }: ToolCallRequest): ToolCallOutcome | undefined {
    const found = id === undefined ? undefined : this.#settled.get(id);
    if (found?.call.name !== name) return undefined;
    this.#used.add(found.call.id);
    return found.outcome;
  }

  /**
   * The answer to the same call, made earlier in this turn. Of a tool that does not ask (`asks` is false)
   * only what was settled before the agent began: such a tool runs again.
   */
  past({ name, args }: ToolCallRequest, asks: boolean): PastAnswer | undefined {
    if (!asks && this.#settled.size === 0) return undefined;
    const isWanted = (call: PastCall): boolean =>
      !this.#used.has(call.id) && isSame(call, name, args);
    const found =
      (asks ? this.#earlier().find(isWanted) : undefined) ?? this.#made().find(isWanted);
    if (!found) return undefined;
    this.#used.add(found.id);
    return found;
  }

  /** Is being made, or was stopped: there is no outcome. */
  isOpen({ id }: ToolCallRequest): boolean {
    return id !== undefined && this.#settled.has(id) && this.#settled.get(id) === undefined;
  }

  #earlier(): readonly PastCall[] {
    const input = this.#input;
    this.#turn ??= input && isContinued(input, this.#answers) ? readTurn(input.messages) : [];
    if (this.#settled.size === 0) return this.#turn;
    // What a tool returned in this run is returned as it is, and not as the conversation has it.
    return this.#turn.filter(({ id }) => !this.#settled.has(id));
  }

  #made(): readonly PastCall[] {
    if (this.#settled.size === 0) return nothing;
    return [...this.#settled.values()].flatMap((made) => (made ? toPast(made) : []));
  }
}

function toPast({ call, outcome }: SettledCall): PastCall {
  const { id, name, args } = call;
  const { result, error } = outcome;
  return error ? { id, name, args, error } : { id, name, args, result };
}

// The last message decides whether a turn goes on. With the user's last message instead, every later run
// would count as its continuation.
function isContinued({ messages }: RunAgentInput, answers: readonly InterruptAnswer[]): boolean {
  return messages.at(-1)?.role === "tool" || answers.length > 0;
}

interface PastCall extends PastAnswer {
  readonly name: string;
  readonly args: unknown;
}

// The calls since the last message of another role, with their answers, in order.
function readTurn(messages: readonly Message[]): readonly PastCall[] {
  const turn = messages.slice(messages.map(({ role }) => role).lastIndexOf("user") + 1);
  const answers = new Map(
    turn.flatMap((message) => (message.role === "tool" ? [[message.toolCallId, message]] : [])),
  );
  return turn.flatMap(callsIn).flatMap(({ id, function: { name, arguments: text } }) => {
    const answer = answers.get(id);
    return answer ? [{ id, name, args: parse(text || "{}"), ...readAnswer(answer) }] : [];
  });
}

function readAnswer(answer: Message & { role: "tool" }): Pick<PastAnswer, "result" | "error"> {
  if (answer.error) return { error: new AgentError("tool-error", answer.error) };
  const { content } = answer;
  const result = typeof content === "string" ? parse(content) : content;
  const failed = toFailure(result);
  return failed ? { error: failed } : { result };
}

// The format in which failures are stored: `{ error: { code, message } }`, and nothing else.
function toFailure(result: unknown): AgentError | undefined {
  const { error, ...rest } = (result ?? {}) as { error?: { code?: unknown; message?: unknown } };
  const { code, message } = error ?? {};
  if (typeof code !== "string" || typeof message !== "string") return undefined;
  if (Object.keys(rest).length > 0) return undefined;
  return new AgentError(code as AgentError["code"], message);
}

function isSame(call: { name: string; args: unknown }, name: string, args: unknown): boolean {
  return call.name === name && isEqualJson(call.args, cloneJson(args ?? {}).value);
}

/** JSON where it is JSON, else the text itself. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

import type { Message } from "@ag-ui/core";
import { answeredIn, callsIn } from "../../base/calls-in.ts";
import { originalCallId } from "../../base/ids.ts";

/** A call that a thread had before a run. */
export interface EarlierCall {
  readonly id: string;
  readonly name: string;
  /** The message that it is in. */
  readonly messageId: string;
  readonly isAnswered: boolean;
}

/** Where the calls of a run come from and who answers them. */
export interface CallOrigins {
  /** Whether a call of this tool is for the client to answer. */
  isClientTool(name: string): boolean;
  /** The calls that the thread had before the run. */
  earlierCalls(): EarlierCalls;
  /** Whether the server has made this call on a person's answer, before the agent began. */
  isSettledCall(toolCallId: string, name: string): boolean;
}

const none: readonly EarlierCall[] = Object.freeze([]);

/** The calls that a thread had before a run. */
export class EarlierCalls {
  readonly #messages: readonly Message[];
  readonly #calls = new Map<string, EarlierCall>();
  /** Those whose ids were replaced, by the ids that their agents gave them. */
  #renamed: Map<string, EarlierCall[]> | undefined;

  constructor(messages: readonly Message[]) {
    this.#messages = messages;
    const answered = answeredIn(messages);
    for (const message of messages) {
      for (const { id, function: called } of callsIn(message)) {
        if (this.#calls.has(id)) continue;
        const { name } = called;
        this.#add({ id, name, messageId: message.id, isAnswered: answered.has(id) });
      }
    }
  }

  /** The same with what else an agent is given: a loop that calls a model has steps that the thread lacks. */
  with(messages: readonly Message[]): EarlierCalls {
    return new EarlierCalls([...this.#messages, ...messages]);
  }

  find(id: string): EarlierCall | undefined {
    return this.#calls.get(id);
  }

  has(id: string): boolean {
    return this.#calls.has(id);
  }

  isAnswered(id: string): boolean {
    return this.#calls.get(id)?.isAnswered ?? false;
  }

  /** The calls that an agent gave this id and that have another one, in order. */
  renamed(id: string): readonly EarlierCall[] {
    return this.#renamed?.get(id) ?? none;
  }

  #add(call: EarlierCall): void {
    this.#calls.set(call.id, call);
    const given = originalCallId(call.id);
    if (given === undefined) return;
    const renamed = (this.#renamed ??= new Map<string, EarlierCall[]>());
    renamed.set(given, [...(renamed.get(given) ?? none), call]);
  }
}

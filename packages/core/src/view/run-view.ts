import { EventType } from "@ag-ui/core";
import type { BaseEvent, Message } from "@ag-ui/core";
import { LiveDocument } from "../json/live-document.ts";
import { foldOver } from "./reducer.ts";
import type { Reducer } from "./reducer.ts";
import { Times } from "./message-times.ts";

/** The run as its clients have received it so far. */
export interface RunView {
  /** Takes the time of the event, for `times`. */
  apply(event: BaseEvent, at?: number): void;
  readonly messages: readonly Message[];
  readonly state: unknown;
  /** The START events of what is open, owners first. */
  open(): readonly BaseEvent[];
  /** Whether all of the run is in the messages; past its bound some is not. */
  readonly isWhole: boolean;
  /** Whether an earlier list of these messages may have been in another order. */
  readonly isReordered: boolean;
  /** When each message of the run was begun and each tool call was complete, by their ids. */
  readonly times: Readonly<Record<string, number>>;
}

export interface RunViewStart {
  /** A list that is not changed afterwards. */
  readonly messages: readonly Message[];
  readonly state: unknown;
  /** What was open where this view begins. */
  readonly open?: readonly BaseEvent[];
  /** The messages hold a part of the run already; how it came about is not known. */
  readonly isReordered?: boolean;
  readonly maxBytes?: number;
}

// Looked up once: this is compared for every token.
const textContent = EventType.TEXT_MESSAGE_CONTENT;

/** Folds delivered events into messages, state and what is open. */
export function createRunView(start: RunViewStart): RunView {
  return new View(start);
}

class View implements RunView {
  #state: unknown;
  /** Made by the first change of the state. */
  #document: LiveDocument | undefined = undefined;
  readonly #reducer: Reducer;
  readonly #times = new Times();
  readonly #maxBytes: number;
  readonly #wasReordered: boolean;

  constructor({ messages, maxBytes = Infinity, state = {}, open, isReordered }: RunViewStart) {
    this.#reducer = foldOver(messages, open ? { maxBytes, open } : { maxBytes });
    this.#state = state;
    this.#maxBytes = maxBytes;
    this.#wasReordered = isReordered ?? false;
  }

  apply(event: BaseEvent, at?: number): void {
    const { type } = event;
    // A delta begins nothing.
    if (type === textContent) return this.#reducer.apply(event);
    if (type === EventType.STATE_SNAPSHOT) return this.#live.write(event.snapshot);
    // The guard let it through, so it applies.
    if (type === EventType.STATE_DELTA) return this.#live.patch(event.delta as never);
    // Past its bound the reducer begins nothing new.
    if (at !== undefined && this.#reducer.bytes <= 2 * this.#maxBytes) this.#times.note(event, at);
    this.#reducer.apply(event);
  }

  get isWhole(): boolean {
    return this.#reducer.bytes <= this.#maxBytes;
  }

  get state(): unknown {
    return this.#document ? this.#document.read() : this.#state;
  }

  get #live(): LiveDocument {
    if (!this.#document) {
      this.#document = new LiveDocument(this.#state);
      this.#state = undefined;
    }
    return this.#document;
  }

  get messages(): readonly Message[] {
    return this.#reducer.messages;
  }

  get isReordered(): boolean {
    return this.#wasReordered || this.#reducer.isReordered;
  }

  get times(): RunView["times"] {
    return this.#times.read();
  }

  open(): readonly BaseEvent[] {
    return this.#reducer.open().map(({ event }) => event);
  }
}

import type { AssistantMessage, Message, ToolCall } from "@ag-ui/core";

/** A place in the list. Its message may be a copy made after the list was last read. */
export interface Slot {
  message: Message;
  /** The reading after which this message was made or copied; an older one is shared. */
  generation: number;
  /** Was there before the run. */
  isHistory: boolean;
}

// As few as these are found sooner by looking at each.
const fewSlots = 8;

const none = Object.freeze([]) as unknown as Slot[];
const nothing: readonly Message[] = Object.freeze([]);

// So often a history is looked through before it is worth an index.
const fewLooks = 4;

/** Messages with an index by id and by tool call, copied on write after they were read. */
export class MessageList {
  /**
   * The messages from before the run, until one of them is looked up. Most runs only append, and a slot
   * for each message would make the history the largest part of an open stream's memory.
   */
  #history: readonly Message[];
  /** What comes after it. */
  #slots: Slot[] = none;
  #looks = 0;
  #generation = 0;
  /** Both are made when they are needed. */
  #byId: Map<string, Slot> | undefined = undefined;
  #calls: Map<string, { slot: Slot; index: number }> | undefined = undefined;

  /** Takes a list that is not changed afterwards. */
  constructor(initial: readonly Message[]) {
    this.#history = initial;
  }

  get slots(): readonly Slot[] {
    return this.#whole();
  }

  /** A copy of the list; messages in it never change afterwards. */
  read(): readonly Message[] {
    this.#generation++;
    return this.#history.concat(this.#slots.map(({ message }) => message));
  }

  /** Ids are unique in a proper conversation; in another, the first one is meant. */
  find(id: string): Slot | undefined {
    if (this.#history.length > 0 && (++this.#looks > fewLooks || this.#isPast(id))) this.#whole();
    if (this.#slots.length > fewSlots) return (this.#byId ??= indexById(this.#slots)).get(id);
    return findById(this.#slots, id);
  }

  /** The message of a slot, free to be changed. */
  write(slot: Slot): Message {
    if (slot.generation !== this.#generation) {
      slot.message = copyMessage(slot.message);
      slot.generation = this.#generation;
    }
    return slot.message;
  }

  /** A tool call, free to be changed. */
  writeCall(toolCallId: string): ToolCall | undefined {
    const found = this.#findCall(toolCallId);
    return found && toolCallsOf(this.write(found.slot))?.[found.index];
  }

  /** The slot that holds a tool call. */
  ownerOf(toolCallId: string): Slot | undefined {
    return this.#findCall(toolCallId)?.slot;
  }

  append(message: Message): Slot {
    const slot = { message, generation: this.#generation, isHistory: false };
    // A list that is pushed to gets room for sixteen more.
    if (this.#slots.length < fewSlots) this.#slots = this.#slots.concat(slot);
    else this.#slots.push(slot);
    this.#index(slot);
    return slot;
  }

  appendCall(slot: Slot, call: ToolCall): void {
    const message = this.write(slot) as AssistantMessage;
    message.toolCalls ??= [];
    const index = message.toolCalls.push(call) - 1;
    this.#calls?.set(call.id, { slot, index });
  }

  /** Puts a tool message behind the results that already follow its call. True: others follow it. */
  insertAfter(owner: Slot, message: Message): boolean {
    const slots = this.#whole();
    let at = slots.lastIndexOf(owner) + 1;
    while (slots[at]?.message.role === "tool") at++;
    const slot = { message, generation: this.#generation, isHistory: false };
    // It may be placed before another message with the same id.
    if (this.#byId?.has(message.id)) this.#byId = undefined;
    slots.splice(at, 0, slot);
    this.#index(slot);
    return at < slots.length - 1;
  }

  /** Puts another message with the same id in a place. */
  replace(slot: Slot, message: Message): void {
    if (toolCallsOf(slot.message)) this.#calls = undefined;
    slot.message = message;
    slot.generation = this.#generation;
    slot.isHistory = false;
  }

  /** Takes another list of slots. */
  reset(slots: Slot[]): void {
    this.#history = nothing;
    this.#slots = slots;
    this.#byId = undefined;
    this.#calls = undefined;
  }

  #isPast(id: string): boolean {
    for (let at = 0; at < this.#history.length; at++) {
      if (this.#history[at]!.id === id) return true;
    }
    return false;
  }

  /** All of it in places. */
  #whole(): Slot[] {
    if (this.#history.length > 0) {
      const past = this.#history.map((message) => ({ message, generation: -1, isHistory: true }));
      this.#history = nothing;
      this.#slots = past.concat(this.#slots);
      this.#byId = undefined;
      this.#calls = undefined;
    }
    return this.#slots;
  }

  #index(slot: Slot): void {
    const { id } = slot.message;
    if (this.#byId && !this.#byId.has(id)) this.#byId.set(id, slot);
    if (this.#calls) indexCalls(this.#calls, slot);
  }

  #findCall(toolCallId: string): { slot: Slot; index: number } | undefined {
    if (!this.#calls) {
      const slots = this.#whole();
      this.#calls = new Map();
      for (const slot of slots) indexCalls(this.#calls, slot);
    }
    return this.#calls.get(toolCallId);
  }
}

function findById(slots: readonly Slot[], id: string): Slot | undefined {
  for (let at = 0; at < slots.length; at++) if (slots[at]!.message.id === id) return slots[at];
  return undefined;
}

function indexById(slots: readonly Slot[]): Map<string, Slot> {
  const byId = new Map<string, Slot>();
  for (const slot of slots) if (!byId.has(slot.message.id)) byId.set(slot.message.id, slot);
  return byId;
}

function indexCalls(calls: Map<string, { slot: Slot; index: number }>, slot: Slot): void {
  toolCallsOf(slot.message)?.forEach((call, index) => {
    if (!calls.has(call.id)) calls.set(call.id, { slot, index });
  });
}

function toolCallsOf(message: Message): ToolCall[] | undefined {
  // Others may carry such a member, but it means nothing there.
  return message.role === "assistant" ? message.toolCalls : undefined;
}

function copyMessage(message: Message): Message {
  if (message.role !== "assistant" || !message.toolCalls) return { ...message };
  const toolCalls = message.toolCalls.map((call) => ({ ...call, function: { ...call.function } }));
  return { ...message, toolCalls };
}

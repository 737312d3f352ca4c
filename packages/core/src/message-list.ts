import type { AssistantMessage, Message, ToolCall } from "@ag-ui/core";

/** A place in the list. Its message may be a copy made since somebody read the list. */
export interface Slot {
  message: Message;
  /** The reading after which this message was made or copied; an older one is shared. */
  generation: number;
  /** Was there before the run. */
  isHistory: boolean;
}

export interface MessageList {
  slots(): readonly Slot[];
  /** A copy of the list; messages in it never change afterwards. */
  read(): readonly Message[];
  find(id: string): Slot | undefined;
  /** The message of a slot, free to be changed. */
  write(slot: Slot): Message;
  /** A tool call, free to be changed. */
  writeCall(toolCallId: string): ToolCall | undefined;
  /** The slot that holds a tool call. */
  ownerOf(toolCallId: string): Slot | undefined;
  append(message: Message): Slot;
  appendCall(slot: Slot, call: ToolCall): void;
  /** Puts a tool message behind the results that already follow its call. True: others follow it. */
  insertAfter(owner: Slot, message: Message): boolean;
  /** Puts another message with the same id in a place. */
  replace(slot: Slot, message: Message): void;
  /** Takes another list of slots. */
  reset(slots: readonly Slot[]): void;
}

/** Messages with an index by id and by tool call, copied on write once somebody has read them. */
export function createMessageList(initial: readonly Message[]): MessageList {
  let slots: Slot[] = [];
  const byId = new Map<string, Slot>();
  const calls = new Map<string, { slot: Slot; index: number }>();
  let generation = 0;

  function index(slot: Slot): void {
    const { message } = slot;
    // Ids are unique in a proper conversation; in another, the first one is meant.
    if (!byId.has(message.id)) byId.set(message.id, slot);
    toolCallsOf(message)?.forEach((call, at) => {
      if (!calls.has(call.id)) calls.set(call.id, { slot, index: at });
    });
  }

  function reset(next: readonly Slot[]): void {
    slots = [...next];
    byId.clear();
    calls.clear();
    slots.forEach(index);
  }

  function write(slot: Slot): Message {
    if (slot.generation !== generation) {
      slot.message = copyMessage(slot.message);
      slot.generation = generation;
    }
    return slot.message;
  }

  reset(initial.map((message) => ({ message, generation: -1, isHistory: true })));
  return {
    slots: () => slots,
    read() {
      generation++;
      return slots.map(({ message }) => message);
    },
    find: (id) => byId.get(id),
    write,
    writeCall(toolCallId) {
      const found = calls.get(toolCallId);
      return found && toolCallsOf(write(found.slot))?.[found.index];
    },
    ownerOf: (toolCallId) => calls.get(toolCallId)?.slot,
    append(message) {
      const slot = { message, generation, isHistory: false };
      slots.push(slot);
      index(slot);
      return slot;
    },
    appendCall(slot, call) {
      const message = write(slot) as AssistantMessage;
      message.toolCalls ??= [];
      calls.set(call.id, { slot, index: message.toolCalls.push(call) - 1 });
    },
    insertAfter(owner, message) {
      let at = slots.indexOf(owner) + 1;
      while (slots[at]?.message.role === "tool") at++;
      const slot = { message, generation, isHistory: false };
      slots.splice(at, 0, slot);
      if (byId.has(message.id)) reset(slots);
      else index(slot);
      return at < slots.length - 1;
    },
    replace(slot, message) {
      const hadCalls = toolCallsOf(slot.message) !== undefined;
      Object.assign(slot, { message, generation, isHistory: false });
      if (hadCalls) reset(slots);
    },
    reset,
  };
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

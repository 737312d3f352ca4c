import type { BaseEvent, Message } from "@holodeck/agui-core";

/** Keeps apart what the client has been told from what it has not. */
export interface Unsaid {
  /** A message begins; one that is not the assistant's is kept until its end. */
  start(event: BaseEvent): void;
  /** True when the text belongs into the answer. */
  hear(event: BaseEvent): boolean;
  /** True when nothing was said under this id before; from now on something was. */
  isNew(id: string): boolean;
  /** The whole message, if it is not the assistant's. */
  end(event: BaseEvent): ForeignMessage | undefined;
  /** What a snapshot holds of this run: what follows the user's last message. */
  take(messages: readonly Message[]): readonly Message[];
}

/** A message of another role, which an answer has no place for. */
interface ForeignMessage {
  readonly id: string;
  readonly role: string;
  readonly name?: string;
  content: string;
}

/** Remembers what a run has said; `known` are ids that the client has from before. */
export function createUnsaid(known?: ReadonlySet<string>): Unsaid {
  const told = new Set(known);
  const foreign = new Map<string, ForeignMessage>();

  return {
    start({ messageId, role, name }) {
      if (typeof role !== "string" || role === "assistant") return;
      const id = String(messageId);
      const named = typeof name === "string" ? { name } : {};
      foreign.set(id, { id, role, ...named, content: "" });
    },
    hear({ messageId, delta }) {
      const id = String(messageId);
      told.add(id);
      const message = foreign.get(id);
      if (message) message.content += String(delta);
      return message === undefined;
    },
    isNew(id) {
      const isNew = !told.has(id);
      told.add(id);
      return isNew;
    },
    end({ messageId }) {
      const message = foreign.get(String(messageId));
      foreign.delete(String(messageId));
      return message;
    },
    take(messages) {
      return messages.slice(messages.map(({ role }) => role).lastIndexOf("user") + 1);
    },
  };
}

import type { BaseEvent, Message } from "@holodeck/agui-core";

/** A message of another role, which an answer has no place for. */
interface ForeignMessage {
  readonly id: string;
  readonly role: string;
  readonly name?: string;
  content: string;
}

/** Separates what the client has received from what it has not. */
export class UnsentMessages {
  readonly #sent: Set<string>;
  #foreign: Map<string, ForeignMessage> | undefined;

  /** `known` are ids that the client has from before. */
  constructor(known?: ReadonlySet<string>) {
    this.#sent = new Set(known);
  }

  /** A message begins; one that is not the assistant's is kept until its end. */
  start({ messageId, role, name }: BaseEvent): void {
    if (typeof role !== "string" || role === "assistant") return;
    const id = String(messageId);
    const named = typeof name === "string" ? { name } : {};
    (this.#foreign ??= new Map()).set(id, { id, role, ...named, content: "" });
  }

  /** True when the text belongs into the answer. */
  append({ messageId, delta }: BaseEvent): boolean {
    const id = String(messageId);
    this.#sent.add(id);
    const message = this.#foreign?.get(id);
    if (message) message.content += String(delta);
    return message === undefined;
  }

  /** True for a message of another role that has not ended. */
  isForeign(id: string): boolean {
    return this.#foreign?.has(id) ?? false;
  }

  /** True when nothing was sent under this id before; marks it as sent. */
  isNew(id: string): boolean {
    const isNew = !this.#sent.has(id);
    this.#sent.add(id);
    return isNew;
  }

  /** The whole message, if it is not the assistant's. */
  end({ messageId }: BaseEvent): ForeignMessage | undefined {
    const message = this.#foreign?.get(String(messageId));
    this.#foreign?.delete(String(messageId));
    return message;
  }

  /** What a snapshot holds of this run: what follows the user's last message. */
  take(messages: readonly Message[]): readonly Message[] {
    return messages.slice(messages.map(({ role }) => role).lastIndexOf("user") + 1);
  }
}

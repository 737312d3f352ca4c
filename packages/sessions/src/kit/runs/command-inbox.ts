import type { RunCommand } from "@holodeck/agui-core";

export type CommandListener = (command: RunCommand) => void;

/** The commands that arrive for a run of this process. Those from before the run listens are kept for its first listener. */
export interface CommandInbox {
  deliver(command: RunCommand): void;
  /** Returns a function that removes the listener. */
  listen(on: CommandListener): () => void;
}

export function createCommandInbox(): CommandInbox {
  return new Inbox();
}

// There is one for every open stream in memory: no list for one listener, and no closures.
class Inbox implements CommandInbox {
  #listeners: CommandListener | readonly CommandListener[] | undefined = undefined;
  #early: RunCommand[] | undefined = undefined;
  /** Early ones were delivered, or there were none when the run began to listen. */
  #isOpen = false;

  get #listening(): readonly CommandListener[] {
    const listeners = this.#listeners;
    return typeof listeners === "function" ? [listeners] : (listeners ?? []);
  }

  deliver(command: RunCommand): void {
    if (!this.#isOpen) (this.#early ??= []).push(command);
    // A listener may remove itself or others.
    else for (const one of this.#listening) if (this.#listening.includes(one)) one(command);
  }

  listen(on: CommandListener): () => void {
    // As a rule a run has one listener, and no list is made for it.
    if (this.#listeners === undefined) this.#listeners = on;
    else if (!this.#listening.includes(on)) this.#listeners = [...this.#listening, on];
    // Deferred, so that the caller can unsubscribe after the first one.
    if (this.#early) queueMicrotask(() => this.#deliverEarly());
    else this.#isOpen = true;
    return () => this.#remove(on);
  }

  #remove(on: CommandListener): void {
    const rest = this.#listeners === on ? [] : this.#listening.filter((one) => one !== on);
    this.#listeners = rest.length === 0 ? undefined : rest;
  }

  #deliverEarly(): void {
    if (!this.#early || !this.#listeners) return;
    const early = this.#early;
    this.#early = undefined;
    this.#isOpen = true;
    for (const command of early) this.deliver(command);
  }
}

import type { BaseEvent } from "@ag-ui/core";
import type { Call } from "../../contract/protocol.ts";
import type { LogEntry } from "../../contract/run-log.ts";

/** Reports when a client has left. */
export type ClientPresence = Pick<Call, "onLeave">;

/** What a collector needs from the clients it is one of. */
export interface CollectorHost {
  /** Left, cut, or the run is over. Called once. */
  waited(collector: Collector, complete: boolean): void;
  /** The listener threw. */
  failed(error: unknown): void;
}

/**
 * A client that waits for the end of a run and takes its result as a whole. It counts as a follower and needs
 * nothing that one has: no encoder for every delta, no sink, no queue, no signal.
 */
export class Collector {
  isGone = false;
  readonly #host: CollectorHost;
  readonly #onEvent: ((event: BaseEvent) => void) | undefined;

  constructor(host: CollectorHost, onEvent: ((event: BaseEvent) => void) | undefined) {
    this.#host = host;
    this.#onEvent = onEvent;
  }

  /** Leaves when its client does, but never before this call has returned. */
  watch(client: ClientPresence): void {
    client.onLeave(() => queueMicrotask(() => this.leave(false)));
  }

  deliver(entries: readonly LogEntry[]): void {
    const onEvent = this.#onEvent;
    if (!onEvent) return;
    try {
      for (const { event } of entries) onEvent(event);
    } catch (error) {
      this.#host.failed(error);
      this.leave(false);
    }
  }

  leave(complete: boolean): void {
    if (this.isGone) return;
    this.isGone = true;
    this.#host.waited(this, complete);
  }
}

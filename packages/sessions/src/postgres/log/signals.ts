import { silentLogger } from "@holodeck/agui-core";
import type { Clock, Logger } from "@holodeck/agui-core";
import type { Connection } from "../client/connection.ts";
import type { Database, Listener } from "../client/database.ts";

/** How this process is notified of what others write. */
export interface Signals {
  /** Notifications arrive; otherwise the caller has to look. */
  readonly isListening: boolean;
  start(): void;
  /** Checks a connection on which nothing has arrived for a while, or ever. */
  check(): void;
  close(): void;
}

export interface SignalsOptions {
  readonly database: Database;
  readonly connection: Connection;
  readonly channel: string;
  readonly process: string;
  readonly clock: Clock;
  readonly logger: Logger | undefined;
  readonly mayListen: boolean;
  /** A run has entries up to an offset, or without one a command or another end. */
  readonly onRun: (fence: number, last: number | undefined) => void;
  /** Notifications do not arrive: the caller has to look. */
  readonly onLost: () => void;
  /** They arrive again; some may have been missed. */
  readonly onRestored: () => void;
}

interface Probe {
  readonly name: string;
  timer: unknown;
}

// An answer takes milliseconds; a pooler that shares connections between transactions never gives one.
const probeMs = 2_000;
const probesInTurn = 2;
const silenceMs = 30_000;
const connectMs = 10_000;

/**
 * Listens on one connection, and does not rely on it before one of its notifications has come back: through a
 * pooler in transaction mode LISTEN succeeds and nothing ever arrives.
 */
export function createSignals(options: SignalsOptions): Signals {
  const { database, connection, channel, process, clock, logger = silentLogger } = options;
  let listener: Listener | undefined;
  let isStarted = false;
  let isConnected = false;
  let isListening = false;
  let isAnnounced = false;
  let notifiedAt = 0;
  let probes = 0;
  let probe: Probe | undefined;
  let connectTimer: unknown;

  function announce(reason: string): void {
    if (isAnnounced) return;
    isAnnounced = true;
    logger.warn({ reason }, "The session database is polled for changes by other processes.");
  }

  function onPayload(payload: string): void {
    notifiedAt = clock.now();
    if (payload.startsWith("?")) {
      if (payload === probe?.name) answered();
      return;
    }
    const [fence, last] = payload.split(" ");
    options.onRun(Number(fence), last === undefined ? undefined : Number(last));
  }

  function ask(turn = 1): void {
    const mine: Probe = { name: `?${process} ${++probes}`, timer: undefined };
    probe = mine;
    // Over another connection: what a connection sends to itself arrives in any mode of a pooler.
    connection.one("probe", mine.name).then(
      () => {
        if (probe === mine) mine.timer = clock.setTimeout(() => unanswered(turn), probeMs);
      },
      // The database is away: `check` asks again.
      () => probe === mine && stopProbe(),
    );
  }

  function answered(): void {
    stopProbe();
    if (isListening) return;
    isListening = true;
    options.onRestored();
  }

  function unanswered(turn: number): void {
    stopProbe();
    // A process that was suspended finds its timer before its answer.
    if (turn < probesInTurn) return ask(turn + 1);
    announce("Notifications do not arrive: is there a pooler in transaction mode?");
    lose();
    listener?.restart();
  }

  function stopProbe(): void {
    clock.clearTimeout(probe?.timer);
    probe = undefined;
  }

  function lose(): void {
    isListening = false;
    options.onLost();
  }

  return {
    get isListening() {
      return isListening;
    },
    start() {
      if (isStarted) return;
      isStarted = true;
      if (!options.mayListen) return;
      if (!database.listen) return announce("The client has no connection to spare for LISTEN.");
      connectTimer = clock.setTimeout(() => {
        if (!isConnected) announce("There is no connection for LISTEN.");
      }, connectMs);
      listener = database.listen(channel, {
        notify: onPayload,
        ready() {
          // On another connection than before: what was sent meanwhile is missing.
          if (isListening) lose();
          isConnected = true;
          stopProbe();
          ask();
        },
        lost() {
          isConnected = false;
          stopProbe();
          lose();
        },
      });
    },
    check() {
      if (!isConnected || probe) return;
      if (!isListening || clock.now() - notifiedAt > silenceMs) ask();
    },
    close() {
      isListening = false;
      clock.clearTimeout(connectTimer);
      stopProbe();
      listener?.close();
    },
  };
}

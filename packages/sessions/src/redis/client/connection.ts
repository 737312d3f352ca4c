import { AgentError } from "@holodeck/agui-core";
import type { Clock } from "@holodeck/agui-core";
import type { RedisCommands } from "./commands.ts";

/** A script that runs on the server in one step. */
export interface RedisScript {
  readonly name: string;
  readonly lua: string;
}

export interface ScriptCall {
  readonly keys: readonly string[];
  readonly args: readonly (string | number)[];
}

/** Commands that answer before the deadline or fail with `store-unavailable`. */
export interface RedisConnection {
  call(...command: (string | number)[]): Promise<unknown>;
  /** May be sent twice when a connection breaks: what writes a run or a session knows its own work. */
  run(script: RedisScript, call: ScriptCall): Promise<unknown>;
}

export interface ConnectionOptions {
  readonly commands: RedisCommands;
  readonly commandMs: number;
  readonly clock: Clock;
}

/** Wraps a client: no offline queue, one deadline per command, a second try when the connection broke. */
export function createConnection(options: ConnectionOptions): RedisConnection {
  const { commands, commandMs, clock } = options;
  const digests = new Map<string, Promise<string>>();

  async function send(command: readonly string[]): Promise<unknown> {
    const deadline = createDeadline(clock, commandMs);
    try {
      for (;;) {
        // Never queued by the client: what was given up must not be done later.
        if (!commands.isReady()) await ready(commands, deadline);
        try {
          return await Promise.race([commands.call(command), deadline.passed]);
        } catch (error) {
          if (deadline.isOver() || isAnswer(error)) throw error;
          await Promise.race([breath(clock), deadline.passed]);
        }
      }
    } finally {
      deadline.clear();
    }
  }

  async function call(...command: (string | number)[]): Promise<unknown> {
    try {
      return await send(command.map(String));
    } catch (error) {
      throw unavailable(error);
    }
  }

  return {
    call,
    async run({ name, lua }, { keys, args }) {
      let digest = digests.get(name);
      if (!digest) digests.set(name, (digest = sha1(lua)));
      const rest = [keys.length, ...keys, ...args].map(String);
      try {
        return await send(["EVALSHA", await digest, ...rest]);
      } catch (error) {
        if (!(error instanceof Error && error.message.startsWith("NOSCRIPT"))) {
          throw unavailable(error);
        }
        return call("EVAL", lua, ...rest);
      }
    },
  };
}

/** Waits for a connection to be ready, at most until the deadline. */
async function ready(commands: RedisCommands, deadline: Deadline): Promise<void> {
  let stop: (() => void) | undefined;
  const stands = new Promise<void>((resolve) => {
    stop = commands.onReady(resolve);
  });
  try {
    await Promise.race([stands, deadline.passed]);
  } finally {
    stop?.();
  }
}

interface Deadline {
  /** Rejects when the time is over. */
  readonly passed: Promise<never>;
  isOver(): boolean;
  clear(): void;
}

function createDeadline(clock: Clock, ms: number): Deadline {
  let over = false;
  let timer: unknown;
  const passed = new Promise<never>((_, reject) => {
    timer = clock.setTimeout(() => {
      over = true;
      reject(new Error(`Redis did not respond within ${ms} ms.`));
    }, ms);
  });
  // The waiting caller receives the rejection; a command that was answered in time has none.
  passed.catch(() => undefined);
  return { passed, isOver: () => over, clear: () => clock.clearTimeout(timer) };
}

// The client may still report a connection: the event that it was lost comes a turn later.
function breath(clock: Clock): Promise<void> {
  return new Promise((resolve) => void clock.setTimeout(resolve, 20));
}

// Redis answers with a word in capitals; anything else is the client's own about the connection.
function isAnswer(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (/^(LOADING|READONLY|MASTERDOWN|CLUSTERDOWN|TRYAGAIN) /.test(error.message)) return false;
  return /^[A-Z]{2,} /.test(error.message);
}

function unavailable(cause: unknown): AgentError {
  return new AgentError("store-unavailable", "The store is not reachable.", {
    cause,
    retryAfter: 2,
  });
}

async function sha1(text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-1", new TextEncoder().encode(text));
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

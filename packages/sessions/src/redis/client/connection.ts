import type { Clock } from "@holodeck/agui-core";
import { createDeadline } from "../../kit/deadline.ts";
import type { Deadline } from "../../kit/deadline.ts";
import { storeUnavailable } from "../../kit/store-errors.ts";
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
      throw storeUnavailable(error);
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
          throw storeUnavailable(error);
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

async function sha1(text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-1", new TextEncoder().encode(text));
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

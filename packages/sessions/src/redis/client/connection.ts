import type { AgentError, Clock } from "@holodeck/agui-core";
import { answerPatiently } from "../../kit/storage/deadline.ts";
import type { Deadline } from "../../kit/storage/deadline.ts";
import { storeRefuses, storeUnavailable } from "../../kit/storage/store-errors.ts";
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

// The client may still report a connection: the event that it was lost comes a turn later.
const pauseMs = 20;

/** Wraps a client: no offline queue, one deadline per command, a second try when the connection broke. */
export function createConnection(options: ConnectionOptions): RedisConnection {
  const { commands, commandMs, clock } = options;
  const { reason } = commands;
  const patience = { clock, ms: commandMs, pauseMs, isPassing, reason };
  const digests = new Map<string, Promise<string>>();

  function send(command: readonly string[]): Promise<unknown> {
    return answerPatiently(patience, async (deadline) => {
      // Never queued by the client: what was given up must not be done later.
      if (!commands.isReady()) await ready(commands, deadline);
      return commands.call(command);
    });
  }

  async function call(...command: (string | number)[]): Promise<unknown> {
    try {
      return await send(command.map(String));
    } catch (error) {
      throw toUnavailable(error);
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
          throw toUnavailable(error);
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

// Redis answers with a word in capitals; anything else is the client's own about the connection.
function isPassing(error: unknown): boolean {
  if (!(error instanceof Error)) return true;
  if (/^(LOADING|READONLY|MASTERDOWN|CLUSTERDOWN|TRYAGAIN) /.test(error.message)) return true;
  return !/^[A-Z]{2,} /.test(error.message);
}

// A replica, a full server, one that cannot save, one whose own replicas are away.
function toUnavailable(error: unknown): AgentError {
  const { message = "" } = (error ?? {}) as { message?: string };
  const refuses = /^(READONLY|OOM|MISCONF|NOREPLICAS) /.test(message);
  return (refuses ? storeRefuses : storeUnavailable)(error);
}

async function sha1(text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-1", new TextEncoder().encode(text));
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

import { AgentError, ulid } from "@holodeck/agui-core";
import type { RunKey, RunRecord } from "@holodeck/agui-core";
import { isUsedRun } from "../kit/runs/lost-run.ts";
import type { ServerTime } from "../kit/storage/server-time.ts";
import type { RedisConnection } from "./client/connection.ts";
import { decodePart, encodePart } from "./keys.ts";
import type { Keys } from "./keys.ts";
import type { LogReader } from "./reader.ts";
import { claimScript, openScript, undoScript } from "./scripts/owner-scripts.ts";
import { runScriptKeys } from "./scripts/prelude.ts";

interface RunInit {
  readonly agentId: string;
  readonly protocolVersion?: string | undefined;
}

type Opened = { readonly fence: number } | { readonly busy: RunRecord };

export interface OpeningOptions {
  readonly connection: RedisConnection;
  readonly keys: Keys;
  readonly reader: LogReader;
  readonly time: ServerTime;
  readonly leaseMs: number;
  readonly keepMs: number;
  readonly runLogMs: number;
  readonly ttlMs: number;
  /** The event that ends a lost run, as JSON. */
  readonly lostEvent: string;
}

/** Opens runs: first the thread, then the run's name. */
export function createOpening(
  options: OpeningOptions,
): (key: RunKey, init: RunInit) => Promise<Opened> {
  const { connection, keys, reader, time, leaseMs, keepMs, runLogMs, ttlMs, lostEvent } = options;
  const times = [leaseMs, keepMs, runLogMs, ttlMs];

  async function hold(key: RunKey, init: RunInit): Promise<Opened> {
    const run = encodePart(key.runId);
    const token = ulid();
    const { agentId, protocolVersion = "" } = init;
    let holder = "";
    for (let attempt = 0; ; attempt++) {
      const held = keys.run({ ...key, runId: decodePart(holder) });
      const own = runScriptKeys(keys.thread(key), keys.run(key));
      const [answer, value] = (await connection.run(openScript, {
        keys: [...own, held.record, held.log, held.commands, held.watch],
        args: [
          run,
          token,
          agentId,
          protocolVersion,
          ...times,
          holder,
          lostEvent,
          time.expected() ?? "",
        ],
      })) as [string, string];
      if (answer === "ok") return { fence: Number(value) };
      holder = value;
      if (answer === "expired") continue;
      const found = await reader.peek({ ...key, runId: decodePart(value) });
      if (found && (answer === "busy" ? isRunning : isUsedRun)(found.record)) {
        return { busy: found.record };
      }
      if (attempt > 10) throw new AgentError("thread-busy", `Thread "${key.threadId}" is busy.`);
    }
  }

  // The pointer lives in another slot, so it is set after the run has begun: it never points to less.
  async function claim(key: RunKey): Promise<RunRecord | undefined> {
    const pointer = keys.pointer(key.principal, key.runId);
    let from = "";
    for (;;) {
      const args = [encodePart(key.threadId), from, keepMs];
      const other = (await connection.run(claimScript, { keys: [pointer], args })) as string | null;
      if (!other) return undefined;
      const otherKey = { ...key, threadId: decodePart(other) };
      const found = await reader.peek(otherKey);
      if (found && isUsedRun(found.record)) return found.record;
      const { record, log } = keys.run(otherKey);
      if (found) await connection.call("DEL", record, log);
      from = other;
    }
  }

  async function undo(key: RunKey, fence: number): Promise<void> {
    const scriptKeys = runScriptKeys(keys.thread(key), keys.run(key));
    await connection.run(undoScript, { keys: scriptKeys, args: [encodePart(key.runId), fence] });
  }

  return async (key, init) => {
    const held = await hold(key, init);
    if ("busy" in held) {
      const { busy } = held;
      // Its process may have died before it set the pointer: who is refused for a run can find it.
      if (busy.last === 0 && isRunning(busy)) await claim(busy);
      return held;
    }
    try {
      const busy = await claim(key);
      if (!busy) return held;
      await undo(key, held.fence);
      return { busy };
    } catch (error) {
      undo(key, held.fence).catch(() => undefined);
      throw error;
    }
  };
}

function isRunning({ status }: RunRecord): boolean {
  return status === "running";
}

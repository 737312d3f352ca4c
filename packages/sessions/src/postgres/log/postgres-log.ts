import { ulid } from "@holodeck/agui-core";
import type { AgentError, Lease, Logger, RunCommand, RunKey, RunLog } from "@holodeck/agui-core";
import { createOwnedRuns } from "../../kit/runs/owned-runs.ts";
import { readableAfter } from "../../kit/runs/run-record.ts";
import { toKeyText } from "../../kit/storage/key-text.ts";
import { doesNotFollow, runNotFound } from "../../kit/storage/store-errors.ts";
import type { StoreSettings } from "../../kit/storage/store-settings.ts";
import type { ServerTime } from "../../kit/storage/server-time.ts";
import type { Connection } from "../client/connection.ts";
import type { Database } from "../client/database.ts";
import { createWriteIds } from "../../kit/storage/write-ids.ts";
import { createAppends, isBehind } from "./appends.ts";
import { createLogFollowers } from "./followers.ts";
import { createPresence } from "./presence.ts";
import { createLogReader, lostText, runTexts, recordFrom } from "./reader.ts";
import { createSignals } from "./signals.ts";

export interface PostgresLogOptions extends StoreSettings {
  readonly database: Database;
  readonly connection: Connection;
  readonly schema: string;
  readonly time: ServerTime;
  readonly listen: boolean;
  readonly logger: Logger | undefined;
}

export interface PostgresLog extends RunLog {
  /** The owner of this lease has to stop: the run is not its own. */
  lost(lease: Lease): AgentError;
  shutdown(): Promise<void>;
}

/** Run logs in a database that several processes share. */
export function createPostgresLog(options: PostgresLogOptions): PostgresLog {
  const { connection, time, leaseMs, runLogMs, runLogEvents, runLogBytes } = options;
  const process = ulid();
  const writeId = createWriteIds(process);
  const owned = createOwnedRuns({
    idOf: ({ fence }: Lease) => fence,
    onGone({ fence }) {
      appends.forget(fence);
      presence.forget(fence);
    },
  });
  const reader = createLogReader(connection, runLogMs, time);
  const appends = createAppends({ ...options, owned, writeId });
  const presence = createPresence({
    ...options,
    owned,
    process,
    followers: () => followers,
    signals: () => signals,
  });
  const followers = createLogFollowers({ ...options, reader, process, onStart: presence.arm });
  const signals = createSignals({
    ...options,
    process,
    channel: options.schema,
    mayListen: options.listen,
    onRun(fence, last) {
      if (last === undefined && owned.has(fence)) presence.look();
      followers.moved(fence, last);
    },
    onLost: presence.arm,
    onRestored() {
      presence.look();
      followers.wakeAll();
    },
  });

  async function send(key: RunKey, command: RunCommand): Promise<boolean> {
    const value = JSON.stringify(command);
    const ids = runTexts(key);
    const sent = [ulid(), value, runLogMs, lostText, time.expected() ?? null];
    const answer = await connection.one("send", ...ids, ...sent);
    return answer === "ok";
  }

  return {
    async open(key, { agentId, protocolVersion }) {
      const version = protocolVersion === undefined ? null : toKeyText(protocolVersion);
      const init = [toKeyText(agentId), version, writeId()];
      const answer = await connection.one(
        "open_run",
        ...runTexts(key),
        ...init,
        leaseMs,
        runLogMs,
        lostText,
        time.expected() ?? null,
      );
      if (answer!.startsWith("{")) return { busy: recordFrom(answer!, time) };
      const lease = owned.add(key, Number(answer));
      presence.arm();
      return lease;
    },
    append(lease, entries) {
      if (entries.length > 0) return appends.append(lease, entries);
    },
    async close(lease, terminal, status) {
      const { fence } = lease;
      // After a write without a response only the server knows the next offset.
      const offset = owned.isDoubtful(lease) ? null : terminal.from;
      const end = [status, terminal.at, JSON.stringify(terminal.event), writeId()];
      const write = (): Promise<string | null> =>
        connection.one("close_run", fence, offset, ...end, runLogEvents, runLogBytes);
      let answer: string | null;
      owned.closing(lease);
      try {
        answer = await write();
        if (isBehind(answer!, terminal.from)) {
          if (await appends.restore(lease, Number(answer), terminal.from)) answer = await write();
        }
      } catch (error) {
        // An owner whose end cannot be stored is done all the same: its lease must run out.
        owned.wrote(lease, "silent");
        throw error;
      }
      if (answer === "lost") throw owned.lost(lease);
      if (answer !== "ok") {
        owned.wrote(lease, "ok");
        throw doesNotFollow(lease.runId, terminal.from, answer!);
      }
      owned.release(fence);
      followers.moved(fence);
    },
    find: reader.find,
    active: reader.active,
    async read(key, after, limit = Number.POSITIVE_INFINITY) {
      let page = await reader.read(key, after, limit);
      // A server that crashed lacks what clients of this process may have received.
      const lease = page && owned.leaseOf(page.fence);
      if (lease && (await appends.restore(lease, page!.last))) {
        page = await reader.read(key, after, limit);
      }
      if (!page) throw runNotFound(key.runId);
      return readableAfter(key.runId, page, after);
    },
    follow: followers.follow,
    async watchers(key) {
      return Number(await connection.one("watchers_of", ...runTexts(key)));
    },
    send,
    requestStop: (key) => send(key, { type: "stop" }),
    commands: owned.listen,
    lost: owned.lost,
    async shutdown() {
      followers.close();
      signals.close();
      await presence.close();
    },
  };
}

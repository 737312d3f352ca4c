import { AgentError } from "@holodeck/agui-core";
import type { Session, ThreadKey } from "@holodeck/agui-core";
import { tooManySessions } from "../kit/storage/store-errors.ts";
import { findEvictable, findOverShare } from "./memory-eviction.ts";
import type { MemoryLog } from "./memory-log.ts";
import { bytesOfNew } from "./memory-recent.ts";
import type { Place, RecentSessions } from "./memory-recent.ts";

export interface MemoryRoomOptions {
  readonly sessions: RecentSessions;
  readonly runs: MemoryLog;
  /** What the logs may take. */
  readonly forLogs: { bytes: number };
  readonly logBytes: number;
  /** What sessions and logs may take together. */
  readonly memoryBytes: number;
  readonly maxSessions: number;
  /** Whether a thread makes room for one too many: always, unless a limit was set with the new one, or never. */
  readonly evicts: "always" | "unlimited" | "never";
  remove(key: ThreadKey): boolean;
  cleanupExpired(): number;
}

/** The room that is left, by number and by bytes. */
export interface MemoryRoom {
  /** Makes room for a new session, or throws `capacity-exceeded`. */
  forSession(session: Session, asked: number | undefined): void;
  /** Makes room for what a session becomes. Throws `capacity-exceeded` only where it may refuse. */
  forChange(id: string, session: Session, mayRefuse: boolean): void;
  /** The sessions take more or less than before. */
  changed(): void;
}

/** Makes room: expired sessions go first, then logs of ended runs, then threads that are not used. */
export function createMemoryRoom(options: MemoryRoomOptions): MemoryRoom {
  const { sessions, runs, forLogs, logBytes, memoryBytes, maxSessions, evicts } = options;

  const isIdle = ({ session }: Place): boolean => !runs.isActive(session);

  function changed(): void {
    forLogs.bytes = Math.min(logBytes, Math.max(0, memoryBytes - sessions.bytes));
  }

  function isOver(growth: number): boolean {
    return sessions.bytes + runs.bytes + growth > memoryBytes;
  }

  function makeRoom(growth: number, kept: Place | undefined): boolean {
    if (!isOver(growth)) return true;
    options.cleanupExpired();
    forLogs.bytes = Math.min(logBytes, Math.max(0, memoryBytes - sessions.bytes - growth));
    runs.shrink();
    while (isOver(growth)) {
      const place = findEvictable(sessions, "bytes", (one) => one !== kept && isIdle(one));
      if (!place) return false;
      options.remove(place.session);
    }
    return true;
  }

  function makePlace({ principal }: Session, asked = Number.POSITIVE_INFINITY): void {
    const limit = Math.min(maxSessions, asked);
    if (sessions.size < limit || options.cleanupExpired() > 0) return;
    const refuses = evicts === "never" || (evicts === "unlimited" && asked <= sessions.size);
    const place = refuses
      ? findOverShare(sessions, { principal, limit }, isIdle)
      : findEvictable(sessions, "threads", isIdle);
    if (!place) throw tooManySessions(limit);
    options.remove(place.session);
  }

  return {
    forSession(session, asked) {
      makePlace(session, asked);
      if (!makeRoom(bytesOfNew(session), undefined)) throw full(memoryBytes);
    },
    forChange(id, session, mayRefuse) {
      const place = sessions.find(id)!;
      const growth = sessions.growthOf(place, session);
      if (growth > 0 && !makeRoom(growth, place) && mayRefuse) throw full(memoryBytes);
    },
    changed,
  };
}

function full(memoryBytes: number): AgentError {
  return new AgentError(
    "capacity-exceeded",
    `The store holds ${memoryBytes} bytes of threads that are in use: its limit, memoryBytes.`,
    { retryAfter: 5 },
  );
}

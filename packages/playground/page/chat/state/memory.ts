import { isRecord } from "@holodeck/agui-core/internal";
import type { ThreadInfo } from "../../client/server.ts";
import { parseJsonText, parseRecord } from "../../client/json.ts";

/** Where the page stores what it has to restore: `localStorage` and `sessionStorage`, or a fake. */
export interface Storage {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
  removeItem(key: string): void;
}

/** A run that has not ended as far as this tab knows. */
interface OpenRun {
  readonly threadId: string;
  readonly runId: string;
}

/** What this browser remembers of threads, and this tab of its run. */
export interface Memory {
  threads(): readonly ThreadInfo[];
  rememberThread(thread: ThreadInfo): void;
  openRun(): OpenRun | undefined;
  rememberRun(run: OpenRun | undefined): void;
}

const threadsKey = "holodeck.threads";
const runKey = "holodeck.run";
const maxThreads = 50;

export function createMemory(lasting: Storage, tab: Storage): Memory {
  function threads(): ThreadInfo[] {
    const all = parseJsonText(lasting.getItem(threadsKey) ?? undefined);
    return Array.isArray(all) ? all.filter(isThread) : [];
  }

  return {
    threads,
    rememberThread(thread) {
      const others = threads().filter(({ id }) => id !== thread.id);
      lasting.setItem(threadsKey, JSON.stringify([thread, ...others].slice(0, maxThreads)));
    },
    openRun() {
      const { threadId, runId } = parseRecord(tab.getItem(runKey) ?? undefined) ?? {};
      return typeof threadId === "string" && typeof runId === "string"
        ? { threadId, runId }
        : undefined;
    },
    rememberRun(run) {
      if (run) tab.setItem(runKey, JSON.stringify(run));
      else tab.removeItem(runKey);
    },
  };
}

function isThread(value: unknown): value is ThreadInfo {
  return isRecord(value) && typeof value.id === "string" && typeof value.usedAt === "number";
}

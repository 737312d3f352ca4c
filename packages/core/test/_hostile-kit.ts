import { fakeClock } from "@holodeck/agui-testing";
import type { FakeClock } from "@holodeck/agui-testing";
import { vi } from "vitest";
import { defaultLimits } from "../src/index.ts";
import { createTicker, LiveRun } from "../src/internal.ts";
import type {
  AgentLike,
  BaseEvent,
  Lease,
  Limits,
  LogEntry,
  Logger,
  RunLog,
} from "../src/index.ts";
import type { RunInit, RunSettings } from "../src/internal.ts";

export interface Setup extends Partial<Pick<RunSettings, "onDisconnect" | "heartbeatMs">> {
  readonly limits?: Partial<Limits>;
  readonly logger?: Logger;
  readonly init?: Partial<RunInit>;
}

/** A run with a clock of its own. */
export function setup(
  agent: AgentLike,
  options: Setup = {},
): { run: LiveRun; clock: FakeClock; settings: RunSettings } {
  const clock = fakeClock();
  const settings: RunSettings = {
    limits: { ...defaultLimits, ...options.limits },
    clock,
    ticker: createTicker(clock, 10),
    logger: options.logger ?? { debug: vi.fn(), info: vi.fn(), warn: vi.fn(), error: vi.fn() },
    heartbeatMs: options.heartbeatMs ?? 15_000,
    onDisconnect: options.onDisconnect ?? "abort",
    debug: false,
    strict: false,
  };
  const input = { threadId: "t", runId: "r", messages: [], tools: [], context: [], state: {} };
  const context = { threadId: "t", runId: "r" };
  const run = new LiveRun({ agent, input, middleware: [], context, ...options.init }, settings);
  return { run, clock, settings };
}

export const types = (events: readonly BaseEvent[]): string[] => events.map(({ type }) => type);
export const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
export const forever = (): Promise<never> => new Promise(() => {});
export const broken = (): never => {
  throw new Error("broken");
};

/** A log that has what it is given at once, and says so when told. */
export function tellingLog(): RunLog & { ack(): void; entries: LogEntry[] } {
  const entries: LogEntry[] = [];
  const waiting: (() => void)[] = [];
  const keep = (batch: readonly LogEntry[]): Promise<void> => {
    entries.push(...batch);
    return new Promise((resolve) => waiting.push(resolve));
  };
  const log: Partial<RunLog> & { ack(): void; entries: LogEntry[] } = {
    entries,
    ack: () => waiting.shift()?.(),
    append: (_lease, batch) => keep(batch),
    close: (_lease, terminal) => keep([terminal]),
    read: async (_key, after, limit = 1e9) =>
      entries.filter(({ to }) => to > after).slice(0, limit),
    watchers: () => 0,
    commands: () => () => {},
  };
  return log as RunLog & { ack(): void; entries: LogEntry[] };
}

export const lease: Lease = {
  principal: "",
  threadId: "t",
  runId: "r",
  fence: 1,
  onLost: () => undefined,
};

import type { Limits } from "./types.ts";

const MiB = 1024 * 1024;

/** Every limit with its default. Each one is documented in the front door's README. */
export const defaultLimits: Limits = {
  bodyBytes: 14 * MiB,
  jsonDepth: 64,
  files: 10,
  fileBytes: 50 * MiB,
  uploadBytes: 100 * MiB,
  inlineFileBytes: 10 * MiB,
  messages: 1_000,
  messageChars: 100_000,
  maxSessions: 1_000,
  maxConcurrentRuns: Number.POSITIVE_INFINITY,
  queuedRuns: 4,
  runTimeoutMs: 600_000,
  toolTimeoutMs: 30_000,
  authenticateMs: 10_000,
  eventBytes: 8 * MiB,
  followerBytes: MiB,
  stallMs: 30_000,
  appendBytes: MiB,
  appendMs: 10_000,
  runLogEvents: 50_000,
  runLogBytes: 8 * MiB,
  runLogMs: 300_000,
  logBytes: 256 * MiB,
};

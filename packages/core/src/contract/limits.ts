/** Every bound, with its default in `docs/limits.md`. */
export interface Limits {
  readonly bodyBytes: number;
  readonly bodiesBytes: number;
  readonly jsonDepth: number;
  readonly jsonNodes: number;
  readonly files: number;
  readonly requestFiles: number;
  readonly fileBytes: number;
  readonly uploadBytes: number;
  readonly inlineFileBytes: number;
  readonly messages: number;
  readonly messageChars: number;
  readonly sessionBytes: number;
  readonly maxSessions: number;
  readonly maxConcurrentRuns: number;
  readonly queuedRuns: number;
  readonly runTimeoutMs: number;
  readonly toolTimeoutMs: number;
  readonly authenticateMs: number;
  readonly eventBytes: number;
  readonly followerBytes: number;
  readonly unsentBytes: number;
  readonly stallMs: number;
  readonly appendBytes: number;
  readonly appendMs: number;
  readonly runLogEvents: number;
  readonly runLogBytes: number;
  readonly runLogMs: number;
  readonly logBytes: number;
  readonly memoryBytes: number;
}

const MiB = 1024 * 1024;

/** Every limit with its default. Each one is documented in the front door's README. */
export const defaultLimits: Limits = {
  bodyBytes: 14 * MiB,
  bodiesBytes: 64 * MiB,
  jsonDepth: 64,
  jsonNodes: 100_000,
  files: 10,
  requestFiles: 100,
  fileBytes: 50 * MiB,
  uploadBytes: 100 * MiB,
  inlineFileBytes: 10 * MiB,
  messages: 1_000,
  messageChars: 100_000,
  sessionBytes: 16 * MiB,
  maxSessions: 10_000,
  maxConcurrentRuns: Number.POSITIVE_INFINITY,
  queuedRuns: 4,
  runTimeoutMs: 600_000,
  toolTimeoutMs: 30_000,
  authenticateMs: 10_000,
  eventBytes: 8 * MiB,
  followerBytes: MiB,
  unsentBytes: 64 * MiB,
  stallMs: 30_000,
  appendBytes: MiB,
  appendMs: 10_000,
  runLogEvents: 50_000,
  runLogBytes: 8 * MiB,
  runLogMs: 300_000,
  logBytes: 256 * MiB,
  memoryBytes: 256 * MiB,
};

export { dateOf } from "@holodeck/agui-core/internal";
export type { StoredEntry } from "@holodeck/agui-core/internal";
export { assertConsecutive, assertFollows } from "./runs/assert-follows.ts";
export { createCommandInbox } from "./runs/command-inbox.ts";
export type { CommandInbox, CommandListener } from "./runs/command-inbox.ts";
export { fromEntryRow, toEntryBatch } from "./runs/entry-rows.ts";
export type { EntryBatch, EntryRow } from "./runs/entry-rows.ts";
export { isUsedRun, lostEntry, lostEvent } from "./runs/lost-run.ts";
export { addEntry, mergeEntries } from "./runs/merge-entries.ts";
export { createOwnLease } from "./runs/own-lease.ts";
export type { OwnLease } from "./runs/own-lease.ts";
export { beatsPerLease, createOwnedRuns } from "./runs/owned-runs.ts";
export type { OwnedRuns, OwnedRunsOptions, WriteResult } from "./runs/owned-runs.ts";
export { entriesAfter, readableAfter, toRunRecord } from "./runs/run-record.ts";
export type { StoredRecord } from "./runs/run-record.ts";
export { wakened } from "./runs/waiting.ts";
export { compareMessages } from "./sessions/compare-messages.ts";
export type { MessageRow } from "./sessions/compare-messages.ts";
export {
  comparePlaces,
  fromCursor,
  invalidCursor,
  listSessions,
  placeOf,
  toListed,
  toPage,
} from "./sessions/session-list.ts";
export type { ListPlace } from "./sessions/session-list.ts";
export { joinSession, restOf } from "./sessions/session-parts.ts";
export type { SessionRest } from "./sessions/session-parts.ts";
export { changeSession, newSession } from "./sessions/session-record.ts";
export { createUpdates } from "./sessions/updates.ts";
export type { UpdateCalls } from "./sessions/updates.ts";
export { blobGone, blobTaken, inPieces, writePieces } from "./storage/blob-pieces.ts";
export type { PieceCalls } from "./storage/blob-pieces.ts";
export { answerPatiently, answerWithin, createDeadline } from "./storage/deadline.ts";
export type { Deadline, PatienceOptions } from "./storage/deadline.ts";
export { createHeartbeat } from "./storage/heartbeat.ts";
export type { Heartbeat } from "./storage/heartbeat.ts";
export { fromText, toKeyText } from "./storage/key-text.ts";
export { createServerTime } from "./storage/server-time.ts";
export type { ServerTime } from "./storage/server-time.ts";
export { createSharing } from "./storage/shared-client.ts";
export type { SharedClient } from "./storage/shared-client.ts";
export {
  doesNotFollow,
  replayGone,
  runLost,
  runNotFound,
  sessionExists,
  sessionNotFound,
  storeClosed,
  storeRefuses,
  storeUnavailable,
  tooManySessions,
  tooManyWrites,
} from "./storage/store-errors.ts";
export { toStoreSettings } from "./storage/store-settings.ts";
export type { StoreOptions, StoreSettings } from "./storage/store-settings.ts";
export { createSweeps } from "./storage/sweeps.ts";
export type { Sweeps } from "./storage/sweeps.ts";
export { takeTokens } from "./storage/token-bucket.ts";
export type { Bucket } from "./storage/token-bucket.ts";
export { createTurns } from "./storage/turns.ts";
export { createWriteIds } from "./storage/write-ids.ts";

export { assertFollows } from "./assert-follows.ts";
export { blobGone, blobTaken, inPieces } from "./blob-pieces.ts";
export { createCommandInbox } from "./command-inbox.ts";
export type { CommandInbox, CommandListener } from "./command-inbox.ts";
export { dateOf } from "@holodeck/agui-core/internal";
export { answerWithin, createDeadline } from "./deadline.ts";
export type { Deadline } from "./deadline.ts";
export { fromText, toKeyText } from "./key-text.ts";
export { isUsedRun, lostEntry, lostEvent } from "./lost-run.ts";
export { addEntry } from "./merge-deltas.ts";
export type { StoredEntry } from "@holodeck/agui-core/internal";
export { mergeEntries } from "./merge-entries.ts";
export { createOwnLease } from "./own-lease.ts";
export type { OwnLease } from "./own-lease.ts";
export { changeSession, newSession } from "./session-record.ts";
export { compareByLastUse, fromCursor, toCursor, toListed } from "./session-list.ts";
export type { ListPlace } from "./session-list.ts";
export {
  replayGone,
  runLost,
  runNotFound,
  sessionExists,
  sessionNotFound,
  storeUnavailable,
  tooManySessions,
} from "./store-errors.ts";
export { toStoreSettings } from "./store-settings.ts";
export type { StoreOptions, StoreSettings } from "./store-settings.ts";
export { takeTokens } from "./token-bucket.ts";
export type { Bucket } from "./token-bucket.ts";
export { createTurns } from "./turns.ts";

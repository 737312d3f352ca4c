/**
 * What the packages of this repository share. It changes without notice, in any release: import
 * `@holodeck/agui-core` instead.
 */
export { assertOptions, describeValue, unknownName } from "./base/options.ts";
export { after, isPromise } from "./base/awaitable.ts";
export { clip, concatBytes, flattenText, quoteText } from "./base/text-and-bytes.ts";
export { ByteBudget, sharedPrincipal, toShareOwner } from "./base/byte-budget.ts";
export type { ByteShare } from "./base/byte-budget.ts";
export { withDeadline } from "./base/time/deadline.ts";
export { dateOf } from "./base/time/clock.ts";
export { createHandleSet } from "./base/handle-set.ts";
export type { HandleSet } from "./base/handle-set.ts";
export { answeredIn, callsIn } from "./base/calls-in.ts";
export { describeCall, withCalls, withoutClaims } from "./tools/claims.ts";
export { ToolQuestion } from "./tools/approval.ts";
export { runOfClientCall } from "./tools/client-tools.ts";
export type {
  ClientToolCall,
  ClientTools,
  Questions,
  ToolResultCommand,
} from "./tools/client-tools.ts";
export { nextTurn } from "./base/time/turns.ts";
export { createOnce, isRequestBound, untilTrue } from "./base/time/request-bound.ts";
export { createTicker } from "./base/time/ticker.ts";
export type { Tickable, Ticker } from "./base/time/ticker.ts";
export { chain } from "./middleware/compose.ts";
export { createRunContext, waitsForClient } from "./agent/context.ts";
export type { RunContextInit } from "./agent/context.ts";
export { answerFetch, findWaitUntil } from "./http/fetch-exchange.ts";
export { createFetchSink } from "./http/fetch-sink.ts";
export type { FetchSink } from "./http/fetch-sink.ts";
export { commonVersion } from "./base/protocol-version.ts";
export { idHeader, isMessageId, toMessageId } from "./base/ids.ts";
export { fromBase64, sanitiseName, sizeOfBase64, toBase64 } from "./http/upload/input-file.ts";
export { isEqualJson } from "./json/copy.ts";
export { isDeeperThan, jsonBytes } from "./json/bytes.ts";
export { isLargerThan } from "./json/size.ts";
export { needsEscape } from "./delta/escape.ts";
export { splitEntry } from "./delta/merged-entry.ts";
export { asText, isRecord, own } from "./json/record.ts";
export { foldRun } from "./view/fold-run.ts";
export type { FoldedRun } from "./view/fold-run.ts";
export { createRunView } from "./view/run-view.ts";
export type { RunView, RunViewStart } from "./view/run-view.ts";
export { stripMount } from "./http/mount-path.ts";
export { socketBefore, whenNext } from "./http/turns.ts";
export type { QueuedResponse } from "./http/turns.ts";
export { queryOf } from "./http/url-parts.ts";
export { essenceOf, typeOfUpload } from "./http/upload/mime-types.ts";
export {
  MultipartParser,
  boundaryOf,
  decodeField,
  malformedForm,
} from "./http/upload/multipart-parser.ts";
export type { PartHead, PartListener } from "./http/upload/multipart-parser.ts";
export type { OpenKind, OpenPart } from "./view/open-parts.ts";
export { interruptOf, toPending, toPendingAfterLoss } from "./tools/pending.ts";
export { assertReadable, collectReplay, replayReply } from "./run/replay.ts";
export { LiveRun } from "./run/live-run.ts";
export type { RunFold, RunInit, RunPersistence, RunLease, RunSettings } from "./run/types.ts";
export type { RunSummary } from "./view/run-summary.ts";
export { toLostCallError } from "./agent/settle-answers.ts";
export { assertOwnForm, assertOwnRequest, isJsonType, isOwnPage } from "./http/same-origin.ts";
export { assertTools, serverToolsOf, toDefinition } from "./tools/definitions.ts";
export { continuesPart, isPlainDelta } from "./delta/bare-delta.ts";
export { mergeInto } from "./delta/merge-into.ts";
export type { StoredEntry } from "./delta/merge-into.ts";
export type { PlainDelta } from "./delta/bare-delta.ts";
export { sizeOfEvent } from "./delta/event-size.ts";
export { createStateTracker } from "./guard/state-tracker.ts";
export type { StateTracker } from "./guard/state-tracker.ts";
export { assertAgent, isReturned } from "./agent/call-agent.ts";
export { isApproved, toAnswers } from "./tools/approval.ts";

export { EventType, PROTOCOL_VERSION } from "@ag-ui/core";
export type { BaseEvent, Interrupt, Message, RunAgentInput, Tool } from "@ag-ui/core";
export { assertHandler, assertOptions, describeValue, unknownName } from "./base/options.ts";
export { createBag } from "./base/handle-set.ts";
export type { Bag } from "./base/handle-set.ts";
export { describeCall, withCalls, withoutClaims } from "./tools/claims.ts";
export { runOfClientCall } from "./tools/client-tools.ts";
export type {
  ClientToolCall,
  ClientTools,
  Questions,
  ToolResultCommand,
} from "./tools/client-tools.ts";
export { systemClock, createTicker } from "./base/ticker.ts";
export { deriveCall } from "./http/call.ts";
export { lastUserText } from "./agent/last-user-text.ts";
export { LazyAbort } from "./base/lazy-abort-controller.ts";
export type { Ticker, Tickable } from "./base/ticker.ts";
export { chain, compose } from "./middleware/compose.ts";
export { createRunContext, waitsForClient, withTools } from "./agent/context.ts";
export type { RunContextInit } from "./agent/context.ts";
export { AgentError, describeError, isAgentError, isHalted } from "./contract/errors.ts";
export type { AgentErrorCode, AgentErrorOptions, Fault } from "./contract/errors.ts";
export { answerFetch, createFetchExchange, findWaitUntil, toFetch } from "./http/fetch-exchange.ts";
export type { FetchExchange, FetchExchangeOptions, ToFetchOptions } from "./http/fetch-exchange.ts";
export { createFetchSink } from "./http/fetch-sink.ts";
export type { FetchSink } from "./http/fetch-sink.ts";
export { createGuard } from "./guard/guard.ts";
export type { CallOrigins, Guard, GuardOptions, RepairKind, RunEnding } from "./guard/guard.ts";
export { idHeader, isMessageId, isOpaqueId, toMessageId, ulid } from "./base/ids.ts";
export {
  createInputFile,
  fromBase64,
  sanitiseName,
  sizeOfBase64,
  toBase64,
} from "./http/upload/input-file.ts";
export { isEqualJson } from "./json/copy.ts";
export { isDeeperThan, jsonBytes } from "./json/bytes.ts";
export { needsEscape } from "./json/escape.ts";
export { createRunView, foldRun } from "./view/run-view.ts";
export type { FoldedRun, RunView, RunViewStart } from "./view/run-view.ts";
export { defaultLimits } from "./contract/limits.ts";
export { silentLogger } from "./base/logger.ts";
export { mapEvents } from "./middleware/map-events.ts";
export type { EventMapper } from "./middleware/map-events.ts";
export { mergeStreams } from "./middleware/merge-streams.ts";
export type { MergedStream, MergeSource, SaidBy } from "./middleware/merge-streams.ts";
export { stripMount } from "./http/mount-path.ts";
export { essenceOf, SUPPORTED_MIME_TYPES, typeOfUpload } from "./http/upload/mime-types.ts";
export {
  boundaryOf,
  decodeField,
  malformedForm,
  MultipartParser,
} from "./http/upload/multipart-parser.ts";
export type { PartHead, PartListener } from "./http/upload/multipart-parser.ts";
export type { OpenKind, OpenPart } from "./view/open-parts.ts";
export { applyPatch, PatchError } from "./json/patch.ts";
export { interruptOf, toAnswers, toPending, toPendingAfterLoss } from "./tools/pending.ts";
export { toProblem } from "./http/problem.ts";
export type { Problem, ProblemOptions } from "./http/problem.ts";
export { createReducer } from "./view/reducer.ts";
export type { Reducer, ReducerOptions } from "./view/reducer.ts";
export { assertReadable, collectReplay, replayReply } from "./run/replay.ts";
export { cutAfter, toSingle } from "./delta/merged-entry.ts";
export { LiveRun } from "./run/run.ts";
export type {
  DisconnectPolicy,
  RunFold,
  RunInit,
  RunKeeper,
  RunLease,
  RunSettings,
} from "./run/types.ts";
export type { RunSummary } from "./view/run-summary.ts";
export { toLostCallError } from "./agent/settle-answers.ts";
export { assertOwnForm } from "./http/same-origin.ts";
export { assertTools, serverToolsOf, toDefinition } from "./tools/definitions.ts";
export { sizeOf } from "./json/size.ts";
export { createStateTracker } from "./guard/state-tracker.ts";
export type { StateTracker } from "./guard/state-tracker.ts";
export { assertAgent, isReturned, toAgent } from "./agent/call-agent.ts";
export type { Agent } from "./agent/call-agent.ts";
export { isApproved } from "./tools/answers.ts";
export { withDispose } from "./tools/disposers.ts";
export type {
  AgentEvent,
  AgentFunction,
  AgentLike,
  AgentObject,
  Awaitable,
  Json,
  Subscribable,
} from "./contract/agent.ts";
export type {
  AgentRequest,
  Clock,
  Emit,
  Logger,
  MessageWriter,
  PredictStateEntry,
  Principal,
  RunContext,
  RunSession,
  RunState,
} from "./contract/context.ts";
export type {
  Chunk,
  Encoder,
  Exchange,
  ExchangeHandler,
  Reply,
  ReplyStream,
  Sink,
} from "./contract/exchange.ts";
export type {
  FileJob,
  FileProcessor,
  FileSpool,
  FileWriter,
  InputFile,
  ProcessedFiles,
} from "./contract/files.ts";
export type { Limits } from "./contract/limits.ts";
export type {
  AdmitHost,
  HandlerFacts,
  HandlerMiddleware,
  Middleware,
  RequestFacts,
  Run,
} from "./contract/middleware.ts";
export type {
  ActiveRun,
  Call,
  Protocol,
  ProtocolHost,
  Route,
  RunRequest,
  RunResult,
  RunTarget,
} from "./contract/protocol.ts";
export type {
  Lease,
  LogEntry,
  RunCommand,
  RunKey,
  RunLog,
  RunRecord,
  RunStatus,
  ThreadKey,
} from "./contract/run-log.ts";
export type {
  ActiveFold,
  BlobKey,
  BlobStore,
  Pending,
  Session,
  SessionChange,
  HistoryOwner,
  PastRun,
  PrunedMessages,
  UpdateOptions,
  SessionStore,
  StoredBlob,
} from "./contract/session-store.ts";
export type {
  AskedCall,
  InterruptAnswer,
  ServerTool,
  TakenCall,
  ToolCallOptions,
  ToolCallOutcome,
  ToolCallRequest,
  ToolContext,
} from "./contract/tools.ts";

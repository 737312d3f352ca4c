export { EventType, PROTOCOL_VERSION } from "@ag-ui/core";
export type { BaseEvent, Interrupt, Message, RunAgentInput, Tool } from "@ag-ui/core";
export { assertHandler, assertOptions, describeValue, unknownName } from "./check-options.ts";
export { createBag } from "./bag.ts";
export type { Bag } from "./bag.ts";
export { describeCall, withCalls, withoutClaims } from "./claims.ts";
export { runOfClientCall } from "./client-tools.ts";
export type { ClientToolCall, ClientTools, Questions, ToolResultCommand } from "./client-tools.ts";
export { systemClock, createTicker } from "./clock.ts";
export { deriveCall } from "./derive-call.ts";
export { lastUserText } from "./last-user-text.ts";
export { LazyAbort } from "./lazy-abort.ts";
export type { Ticker, Tickable } from "./clock.ts";
export { chain, compose } from "./compose.ts";
export { createRunContext, waitsForClient, withTools } from "./context.ts";
export type { RunContextInit } from "./context.ts";
export { AgentError, describeError, isAgentError, isHalted } from "./errors.ts";
export type { AgentErrorCode, AgentErrorOptions, Fault } from "./errors.ts";
export { answerFetch, createFetchExchange, findWaitUntil, toFetch } from "./fetch-exchange.ts";
export type { FetchExchange, FetchExchangeOptions, ToFetchOptions } from "./fetch-exchange.ts";
export { createFetchSink } from "./fetch-sink.ts";
export type { FetchSink } from "./fetch-sink.ts";
export { createGuard } from "./guard.ts";
export type { CallOrigins, Guard, GuardOptions, RepairKind, RunEnding } from "./guard.ts";
export { idHeader, isMessageId, isOpaqueId, toMessageId, ulid } from "./ids.ts";
export { createInputFile, fromBase64, sanitiseName, sizeOfBase64, toBase64 } from "./input-file.ts";
export { isEqualJson } from "./json.ts";
export { isDeeperThan, jsonBytes } from "./json-bytes.ts";
export { needsEscape } from "./json-text.ts";
export { createRunView, foldRun } from "./join.ts";
export type { FoldedRun, RunView, RunViewStart } from "./join.ts";
export { defaultLimits } from "./limits.ts";
export { silentLogger } from "./logger.ts";
export { mapEvents } from "./map-events.ts";
export type { EventMapper } from "./map-events.ts";
export { mergeStreams } from "./merge-streams.ts";
export type { MergedStream, MergeSource, SaidBy } from "./merge-streams.ts";
export { stripMount } from "./mount-path.ts";
export { essenceOf, SUPPORTED_MIME_TYPES, typeOfUpload } from "./mime-types.ts";
export { boundaryOf, decodeField, malformedForm, MultipartParser } from "./multipart-parser.ts";
export type { PartHead, PartListener } from "./multipart-parser.ts";
export type { OpenKind, OpenPart } from "./open-parts.ts";
export { applyPatch, PatchError } from "./patch.ts";
export { interruptOf, toAnswers, toPending, toPendingAfterLoss } from "./pending.ts";
export { toProblem } from "./problem.ts";
export type { Problem, ProblemOptions } from "./problem.ts";
export { createReducer } from "./reducer.ts";
export type { Reducer, ReducerOptions } from "./reducer.ts";
export { assertReadable, collectReplay, replayReply } from "./replay.ts";
export { cutAfter, toSingle } from "./line.ts";
export { LiveRun } from "./run.ts";
export type {
  DisconnectPolicy,
  RunFold,
  RunInit,
  RunKeeper,
  RunLease,
  RunSettings,
  RunSummary,
} from "./run-types.ts";
export { toLostCallError } from "./settle-answers.ts";
export { assertOwnForm } from "./same-origin.ts";
export { assertTools, serverToolsOf, toDefinition } from "./server-tools.ts";
export { sizeOf } from "./size.ts";
export { createStateTracker } from "./state.ts";
export type { StateTracker } from "./state.ts";
export { assertAgent, isReturned, toAgent } from "./to-agent.ts";
export type { Agent } from "./to-agent.ts";
export { isApproved } from "./tool-answers.ts";
export { withDispose } from "./tool-disposers.ts";
export type {
  ActiveFold,
  ActiveRun,
  AdmitHost,
  AgentEvent,
  AgentFunction,
  AgentLike,
  AgentObject,
  AgentRequest,
  AskedCall,
  Awaitable,
  BlobKey,
  BlobStore,
  Call,
  Chunk,
  Clock,
  Emit,
  Encoder,
  Exchange,
  ExchangeHandler,
  FileJob,
  FileProcessor,
  FileSpool,
  FileWriter,
  HandlerFacts,
  HandlerMiddleware,
  InputFile,
  InterruptAnswer,
  Json,
  Lease,
  Limits,
  LogEntry,
  Logger,
  MessageWriter,
  Middleware,
  Pending,
  PredictStateEntry,
  Principal,
  ProcessedFiles,
  Protocol,
  ProtocolHost,
  Reply,
  ReplyStream,
  RequestFacts,
  RequestSubject,
  Route,
  Run,
  RunCommand,
  RunContext,
  RunKey,
  RunLog,
  RunRecord,
  RunRequest,
  RunResult,
  RunSession,
  RunState,
  RunStatus,
  RunTarget,
  ServerTool,
  Session,
  SessionChange,
  HistoryOwner,
  PastRun,
  PrunedMessages,
  UpdateOptions,
  SessionStore,
  Sink,
  StoredBlob,
  Subscribable,
  TakenCall,
  ThreadKey,
  ToolCallOptions,
  ToolCallOutcome,
  ToolCallRequest,
  ToolContext,
} from "./types.ts";

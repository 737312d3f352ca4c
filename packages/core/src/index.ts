export { EventType } from "@ag-ui/core";
export { PROTOCOL_VERSION } from "./base/protocol-version.ts";
export type { BaseEvent, Interrupt, Message, RunAgentInput, Tool } from "@ag-ui/core";
export { assertHandler } from "./base/options.ts";
export { systemClock } from "./base/time/clock.ts";
export { deriveCall } from "./http/call.ts";
export { lastUserText } from "./agent/last-user-text.ts";
export { compose } from "./middleware/compose.ts";
export { withTools } from "./agent/with-tools.ts";
export { AgentError, describeError, isAgentError, isHalted } from "./contract/errors.ts";
export type { AgentErrorCode, AgentErrorOptions, Fault } from "./contract/errors.ts";
export { createFetchExchange, toFetch } from "./http/fetch-exchange.ts";
export type { FetchExchange, FetchExchangeOptions, ToFetchOptions } from "./http/fetch-exchange.ts";
export { createGuard } from "./guard/guard.ts";
export type { CallOrigins, Guard, GuardOptions, RepairKind, RunEnding } from "./guard/guard.ts";
export { isOpaqueId, ulid } from "./base/ids.ts";
export { createInputFile } from "./http/upload/input-file.ts";
export { defaultLimits } from "./contract/limits.ts";
export { silentLogger } from "./base/logger.ts";
export { mapEvents } from "./middleware/map-events.ts";
export type { EventMapper } from "./middleware/map-events.ts";
export { mergeStreams } from "./middleware/merge-streams.ts";
export type { MergeSource, MergedStream, EventOf } from "./middleware/merge-streams.ts";
export { SUPPORTED_MIME_TYPES } from "./http/upload/mime-types.ts";
export { PatchError, applyPatch } from "./json/patch.ts";
export { toProblem } from "./http/problem.ts";
export type { Problem, ProblemOptions } from "./http/problem.ts";
export { createReducer } from "./view/reducer.ts";
export type { Reducer, ReducerOptions } from "./view/reducer.ts";
export { isBareDelta } from "./delta/bare-delta.ts";
export type { BareDelta } from "./delta/bare-delta.ts";
export { createDeltaFrames } from "./delta/delta-frames.ts";
export type { DeltaFrame, DeltaFrames, DeltaFramesOptions } from "./delta/delta-frames.ts";
export { cutAfter } from "./delta/merged-entry.ts";
export type { DisconnectPolicy } from "./run/types.ts";
export { toAgent } from "./agent/call-agent.ts";
export type { Agent } from "./agent/call-agent.ts";
export { withDispose } from "./tools/run-tools.ts";
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
  UnsentResponse,
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
  RequestSubject,
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
  HistoryOwner,
  ListedSession,
  PastRun,
  Pending,
  PrunedMessages,
  Session,
  SessionChange,
  SessionInit,
  SessionSize,
  SessionStore,
  StoredBlob,
  UpdateOptions,
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

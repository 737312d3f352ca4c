/**
 * The contract of the library: what an agent, a middleware, a protocol, a binding and a store are.
 * Longer than our usual file on purpose: whoever writes one of them finds all of it on one page.
 */
import type {
  BaseEvent,
  EventType,
  Interrupt,
  JsonPatch,
  Message,
  RunAgentInput,
  TextMessageRole,
  TokenUsage,
  Tool,
} from "@ag-ui/core";
import type { Observable } from "rxjs";
import type { AgentError } from "./errors.ts";

export type Awaitable<T> = T | Promise<T>;
export type Chunk = string | Uint8Array;
export type Json = Record<string, unknown>;

// ── Agents ─────────────────────────────────────────────────────────────────────────────────────

/** Anything with `subscribe`: an Observable of any rxjs copy fits. */
export interface Subscribable<T> {
  subscribe(observer: { next(value: T): void; error(reason: unknown): void; complete(): void }): {
    unsubscribe(): void;
  };
}

/** An event as an author writes it: AG-UI's own type, or a literal with the type's name as a string. */
export type AgentEvent = BaseEvent | ({ type: `${EventType}` } & Json);

/**
 * An agent in its smallest form. A yielded string is a text delta. A promise may resolve to nothing,
 * to a string (text, if none was emitted), to a result, or to one of the streams.
 */
export type AgentFunction = (
  input: RunAgentInput,
  context: RunContext,
) =>
  | Subscribable<AgentEvent | string>
  | AsyncIterable<AgentEvent | string>
  | Iterable<AgentEvent | string>
  | Promise<unknown>;

/** An agent as an object. An `AbstractAgent` of `@ag-ui/client` fits. */
export interface AgentObject {
  // A method, so that agents whose `run` takes only the input fit too.
  run(input: RunAgentInput, context: RunContext): ReturnType<AgentFunction>;
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  /**
   * Names of the tools that the agent runs itself. Results of these are never taken from a client, as those
   * of the handler's `tools` are not. A function may have this member, too.
   */
  readonly serverTools?: readonly string[] | undefined;
  /** Called once by `start()`; throws when the agent cannot be served. */
  validate?(): Awaitable<void>;
  /** Called by `start()` after `validate`; the handler serves when it resolves. */
  ready?(): Awaitable<unknown>;
  /** What it can do, in AG-UI's words; part of discovery, over what the server knows of it. */
  getCapabilities?(): Awaitable<unknown>;
}

export type AgentLike = AgentFunction | AgentObject;

// ── The run's context ──────────────────────────────────────────────────────────────────────────

export interface Logger {
  debug(fields: object, message?: string): void;
  info(fields: object, message?: string): void;
  warn(fields: object, message?: string): void;
  error(fields: object, message?: string): void;
}

export interface Principal {
  readonly id: string;
  readonly [claim: string]: unknown;
}

/** What `authenticate`, middleware and `context.request` see: a subset of `Request`, without its body. */
export interface AgentRequest {
  readonly method: string;
  /** As the client sent it, prefix included. */
  readonly url: URL;
  readonly headers: Headers;
  readonly ip?: string | undefined;
  /** Node's request, Hono's context or the `Request` itself. */
  readonly native: unknown;
}

export interface InputFile {
  readonly name: string;
  readonly mimeType: string;
  readonly size: number;
  bytes(): Promise<Uint8Array>;
  stream(): ReadableStream<Uint8Array>;
}

/** What a file processor is given: an input as it was decoded, and the files that came beside it. */
export interface FileJob {
  readonly input: RunAgentInput;
  /** Of a form; they belong to the last message of the user. */
  readonly uploads: readonly InputFile[];
  readonly principal: Principal | undefined;
  readonly limits: Limits;
  readonly logger: Logger;
  readonly requestId: string;
  /** Where the handler keeps its sessions, and perhaps uploads. */
  readonly sessions: SessionStore;
  /** Aborted when the client leaves. */
  readonly signal?: AbortSignal | undefined;
}

export interface ProcessedFiles {
  /** The messages that the agent reads in another form, by what was sent. */
  readonly messages: ReadonlyMap<Message, Message>;
  /** For `context.files`. */
  readonly files: readonly InputFile[];
  /** The run has ended, however it did, or will not begin. */
  release(): Awaitable<void>;
}

/** Where the files of a form wait for the end of their run. */
export interface FileSpool {
  /** For one file, as it arrives. */
  open(): FileWriter;
  /** Also of what was never ended. */
  release(): Awaitable<void>;
}

export interface FileWriter {
  /** The bytes are the writer's own from now on. */
  write(bytes: Uint8Array): Awaitable<void>;
  end(about: Pick<InputFile, "name" | "mimeType">): Awaitable<InputFile>;
}

/** Looks at what clients upload before an agent does. */
export interface FileProcessor {
  /** Types of files that may be sent, for protocols that would refuse them. */
  readonly mimeTypes?: readonly string[];
  /** Called before the run takes its thread: a thrown `AgentError` is an HTTP answer. */
  process(job: FileJob): Promise<ProcessedFiles>;
  /** Absent: the files of a form stay in memory. */
  spool?(): FileSpool;
  /** Routes of its own, beside those of the protocols. */
  routes?(host: Pick<ProtocolHost, "limits" | "logger" | "sessions">): readonly Route[];
  /** With the handler. */
  close?(): Awaitable<void>;
}

/** What a tool is given besides its arguments. Its `signal` is also aborted when its time is up. */
export interface ToolContext extends RunContext {
  readonly toolCallId: string;
}

/** A tool that the server knows. Definitions carry their own `invoke`, so that core needs no tool package. */
export interface ServerTool extends Tool {
  /** Where it runs. What the client runs is only declared here, and never invoked. By default `server`. */
  readonly location?: "server" | "client";
  /** By default `limits.toolTimeoutMs`. */
  readonly timeoutMs?: number;
  /** Whether a person has to allow the call first. */
  readonly needsApproval?: boolean | ((args: unknown, context: RunContext) => Awaitable<boolean>);
  /** The arguments as `invoke` takes them. Throws an `AgentError` when they are wrong. */
  parse?(args: unknown): Awaitable<unknown>;
  invoke(args: unknown, context: ToolContext): Awaitable<unknown>;
}

/** A question of an earlier run and the answer to it, both vouched for by the server. */
export interface InterruptAnswer {
  readonly interrupt: Interrupt;
  readonly status: "resolved" | "cancelled";
  readonly payload?: unknown;
  /** The call that waits for approval, as the server asked about it. */
  readonly call?: AskedCall;
}

/** A tool call that a person was asked about. */
export interface AskedCall {
  readonly id: string;
  readonly name: string;
  readonly args: unknown;
  /** Set when the agent brought the tool: then the agent makes the call, once it is allowed. */
  readonly owner?: "agent";
}

/** A call whose approval or denial a run has accepted. It is stored before the call is made. */
export interface TakenCall extends AskedCall {
  readonly isApproved: boolean;
}

export interface RunSession {
  get(key: string): unknown;
  set(key: string, value: unknown): void;
  readonly metadata: Readonly<Json>;
  /** What `createSession` made for this thread. */
  readonly data: unknown;
  /** The interrupts of the last run that `input.resume` answers, as the server remembers them. */
  readonly answers: readonly InterruptAnswer[];
}

/** The shared state of a run. Every change is sent: first a snapshot, then RFC 6902 deltas. */
export interface RunState {
  get<T = unknown>(): T;
  set(next: unknown): void | Promise<void>;
  /** Changes a draft in place; the state itself stays immutable. */
  update<T = Json>(change: (draft: T) => void): void | Promise<void>;
  /** All or nothing. A patch that does not apply sends a snapshot instead and throws. */
  patch(operations: JsonPatch): void | Promise<void>;
  /** Sends a snapshot on purpose. */
  resync(): void | Promise<void>;
}

export interface MessageWriter {
  readonly id: string;
  text(delta: string): void | Promise<void>;
  end(): void | Promise<void>;
}

export interface PredictStateEntry {
  readonly state_key: string;
  readonly tool: string;
  readonly tool_argument: string;
}

/**
 * What an agent says, one method per kind. A method returns a promise only while the clients are
 * behind: `await emit.text(…)` in a loop makes the agent wait for its readers. After the end of the run
 * nothing is sent: methods with a value return it, and promises reject with `run-ended` in the agent that
 * awaits them, but not in a timer or listener.
 */
export interface Emit {
  /** A piece of the answer; the same as yielding the string. */
  text(delta: string): void | Promise<void>;
  /** A piece of what the model thinks before it answers. */
  reasoning(delta: string): void | Promise<void>;
  /** A text message of one's own, with role and name; ended by `end()`. */
  message(options?: { id?: string; role?: TextMessageRole; name?: string }): MessageWriter;
  /** A whole tool call. Returns its id, or a promise of it when the arguments are streamed. */
  toolCall(name: string, args?: Json | string, options?: ToolCallOptions): string;
  toolCall(name: string, args: AsyncIterable<string>, options?: ToolCallOptions): Promise<string>;
  /** A string or content parts as they are; any other object as JSON. */
  toolResult(toolCallId: string, content: string | object): void | Promise<void>;
  /** Brackets `body` with STEP_STARTED and STEP_FINISHED, however it ends. */
  step<T>(name: string, body: () => Awaitable<T>): Promise<T>;
  /** Shows or replaces an activity; give an id to update one. Returns the id. */
  activity(type: string, content: Json, options?: { id?: string; replace?: boolean }): string;
  /** Replaces the client's messages, so it starts with the history. */
  messages(messages: readonly Message[]): void | Promise<void>;
  /** Says, before the call, which argument of which tool will become which part of the state. */
  predictState(entries: readonly PredictStateEntry[]): void | Promise<void>;
  /** An event of your own, for a frontend that knows its name. */
  custom(name: string, value: unknown): void | Promise<void>;
  /** Somebody else's event, passed on as it is. */
  raw(event: unknown, source?: string): void | Promise<void>;
  /** Brackets `body` with SUBAGENT_STARTED and _FINISHED (or _ERROR); what it emits carries the id. */
  subagent<T>(
    name: string,
    body: (emit: Emit) => Awaitable<T>,
    options?: { description?: string; parentToolCallId?: string; parentMessageId?: string },
  ): Promise<T>;
  /** Asks the user. The run ends with this interrupt; the next run brings the answer in `resume`. */
  interrupt(interrupt: Omit<Interrupt, "id"> & { id?: string }): string;
  /** Tokens spent; told with the end of the run. */
  usage(usage: TokenUsage): void;
  /** Any event of AG-UI; the same as yielding it. */
  event(event: AgentEvent): void | Promise<void>;
}

export interface ToolCallOptions {
  id?: string;
  parentMessageId?: string;
}

/** One call of `context.callTools`. */
export interface ToolCallRequest {
  readonly name: string;
  readonly args: unknown;
  /** Of a call that the client has been told of: its START, ARGS and END are not sent again. */
  readonly id?: string;
  /** The message that the call is a part of. */
  readonly parentMessageId?: string;
}

/** How a call went: it has a result, an error, or waits for the client or for a person. */
export type ToolCallOutcome = {
  readonly id: string;
  readonly name: string;
  readonly args: unknown;
  /** How long it took. */
  readonly ms: number;
} & (
  | { readonly status: "done"; readonly result: unknown; readonly error?: undefined }
  | { readonly status: "failed"; readonly error: AgentError; readonly result?: undefined }
  | { readonly status: "pending"; readonly result?: undefined; readonly error?: undefined }
);

/** What an agent is given besides its input: whom it serves, how to speak, when to stop. */
export interface RunContext {
  /** Aborted by disconnect, stop, timeout and shutdown; `reason` is an `AgentError`. */
  readonly signal: AbortSignal;
  readonly threadId: string;
  readonly runId: string;
  readonly agentId: string;
  /** What `authenticate` returned. */
  readonly principal: Principal | undefined;
  /** Values that outlive the run: the thread's own, on this server. */
  readonly session: RunSession;
  readonly logger: Logger;
  readonly requestId: string;
  readonly request: AgentRequest | undefined;
  readonly files: readonly InputFile[];
  /** The handler's server tools. The client's are in `input.tools`. */
  readonly tools: readonly ServerTool[];
  /** The state that agent and frontend share. */
  readonly state: RunState;
  /** Text, reasoning, tool calls, steps and the rest, one method each. */
  readonly emit: Emit;
  /**
   * Calls a tool, and shows call and result to the client. Rejects with an `AgentError` when it fails.
   * Where the request's protocol answers client tools while the run goes on, one of them is waited for.
   * Elsewhere such a call, as one that a person has to allow, rejects with `halted`: let it pass, and
   * the run ends. The next run brings the answer, and there the same call returns it.
   */
  callTool(name: string, args?: unknown): Promise<unknown>;
  /** Several at once, in bounds; never rejects for one of them. After a `pending` one the agent ends. */
  callTools(calls: readonly ToolCallRequest[]): Promise<readonly ToolCallOutcome[]>;
}

// ── Middleware ─────────────────────────────────────────────────────────────────────────────────

export type Run = (input: RunAgentInput, context: RunContext) => Observable<BaseEvent>;

/** Run level. Any Observable may be returned, of any rxjs copy; `next` gives ours. */
export type Middleware = (
  input: RunAgentInput,
  context: RunContext,
  next: Run,
) => Subscribable<BaseEvent>;

/** What a handler lends to middleware that admits runs; without a handler there is none. */
export interface AdmitHost {
  /** The handler's, so that what is counted there is counted once for all processes. */
  readonly sessions: Pick<SessionStore, "take">;
}

/** What a middleware may know of the handler it works in. */
export interface HandlerFacts {
  readonly logger: Logger;
  readonly debug: boolean;
}

/** Which run a request is about; what is not known of it is absent. */
export interface RequestSubject {
  readonly threadId?: string | undefined;
  readonly runId?: string | undefined;
  readonly agentId?: string | undefined;
}

/**
 * What a middleware may know of a request besides what the client sent. Its subject is known once the request
 * is answered, if it is about a thread or a run.
 */
export interface RequestFacts extends RequestSubject {
  readonly requestId: string;
  /** Which protocol answers; known once the request is answered, if one does. */
  readonly protocol: string | undefined;
}

/** Handler level, in four stages. */
export interface HandlerMiddleware {
  readonly name: string;
  /** Stands for the handler's option of that name; at most one middleware has it. */
  authenticate?(request: AgentRequest): Awaitable<Principal | null>;
  /** Called once by each handler that it is given to; what it returns takes its place there. */
  mount?(handler: HandlerFacts): HandlerMiddleware;
  /** Around every request, preflights and errors included. May change status and headers of the reply. */
  request?(request: AgentRequest, next: () => Promise<Reply>, facts?: RequestFacts): Promise<Reply>;
  /** After decoding, before lease and first byte. A thrown `AgentError` is an HTTP answer. */
  admit?(input: RunAgentInput, context: RunContext, host?: AdmitHost): Awaitable<void>;
  run?: Middleware;
}

// ── The log and the sessions ───────────────────────────────────────────────────────────────────

/** Offsets count from 1 within a run. The owner of the run numbers; a store only checks. */
export interface LogEntry {
  /** First and last offset this entry covers; equal unless deltas were merged. */
  readonly from: number;
  readonly to: number;
  /** The owner's clock, in ms. Encoders never read a clock, never draw a random id. */
  readonly at: number;
  /** Guarded AG-UI 1.0: no CHUNK, no null, ids present. */
  readonly event: BaseEvent;
  /** Merged deltas: where each piece ends, so that a reader may start at any offset inside. */
  readonly cuts?: readonly number[] | undefined;
}

export interface ThreadKey {
  /** `''` when nobody authenticates. */
  readonly principal: string;
  readonly threadId: string;
}

export interface RunKey extends ThreadKey {
  readonly runId: string;
}

export type RunStatus = "running" | "finished" | "failed" | "cancelled" | "lost";

export interface RunRecord extends RunKey {
  /** Format of the log, so that the next version can read what this one wrote. */
  readonly format: 1;
  readonly agentId: string;
  /** Of the request that started it: the default for followers that cannot say. */
  readonly protocolVersion?: string | undefined;
  readonly status: RunStatus;
  /** The oldest offset that can still be read. */
  readonly first: number;
  readonly last: number;
}

export interface Lease extends RunKey {
  readonly fence: number;
  readonly lost: AbortSignal;
  /**
   * The same without a signal, for stores in this process. Listened to until the run is closed; returns how
   * to stop earlier.
   */
  onLost?(listener: () => void): () => void;
}

export type RunCommand =
  | {
      readonly type: "stop";
      readonly reason?: "stopped" | "replaced";
      /** Only when nobody follows the run any more. */
      readonly ifUnfollowed?: boolean;
    }
  | {
      readonly type: "tool-result";
      readonly toolCallId: string;
      readonly result?: unknown;
      readonly error?: string;
      /** As the client measured it. */
      readonly executionTimeMs?: number;
    };

export interface RunLog {
  /**
   * Atomic: the thread is free → record and lease; else who holds it. A holder whose lease ran out is
   * closed first, with RUN_ERROR `run-lost`. A `runId` is used once: on any thread of the principal it is
   * busy while it runs, and after its end as long as its log is kept. An ended run whose log holds nothing
   * but its end has never begun; it is replaced.
   */
  open(
    key: RunKey,
    init: { agentId: string; protocolVersion?: string | undefined },
  ): Awaitable<Lease | { readonly busy: RunRecord }>;
  /**
   * All or nothing, with fence and offset checked. One call in flight per lease.
   * Returning nothing (not a promise) means "durable already".
   */
  append(lease: Lease, entries: readonly LogEntry[]): void | Promise<void>;
  /** The terminal entry, the status and the end of the lease in one step. */
  close(lease: Lease, terminal: LogEntry, status: RunStatus): Awaitable<void>;
  find(principal: string, runId: string): Awaitable<RunRecord | undefined>;
  active(key: ThreadKey): Awaitable<RunRecord | undefined>;
  /** Entries after an offset, a merged one cut there. `replay-gone` when they were trimmed. */
  read(key: RunKey, after: number, limit?: number): Awaitable<readonly LogEntry[]>;
  /**
   * Live tail for a process that does not own the run, to its end. Counts as a watcher while it is
   * iterated, and closes a run whose owner has died.
   */
  follow(key: RunKey, after: number, signal: AbortSignal): AsyncIterable<readonly LogEntry[]>;
  /** Followers in all processes. */
  watchers(key: RunKey): Awaitable<number>;
  /** To the owner, in whichever process. False: not running. */
  send(key: RunKey, command: RunCommand): Awaitable<boolean>;
  requestStop(key: RunKey): Awaitable<boolean>;
  commands(lease: Lease, on: (command: RunCommand) => void): () => void;
}

export interface Pending {
  readonly id: string;
  readonly kind: "tool" | "interrupt";
  readonly runId: string;
  readonly value: Json;
}

/** Which side keeps the messages of a thread: the client sends all of them, or only what is new. */
export type HistoryOwner = "client" | "server";

/** What a store removed from the beginning of a thread to keep it within its bounds. */
export interface PrunedMessages {
  /** How many messages were removed. */
  readonly count: number;
  /** The id of the last one. */
  readonly lastId: string;
}

/** A run that a thread has accepted, and its request, so that a late copy of the request is recognised. */
export interface PastRun {
  readonly runId: string;
  /** Equal for copies of one request; what it is made of is the handler's business. */
  readonly request: string;
}

/** The record of one thread. */
export interface Session extends ThreadKey {
  readonly agentId: string;
  readonly version: number;
  readonly createdAt: number;
  readonly lastActivity: number;
  readonly messageCount: number;
  readonly messages: readonly Message[];
  readonly state: unknown;
  readonly metadata: Readonly<Json>;
  /** What the server asked for and has not been answered. */
  readonly pending: readonly Pending[];
  /** The last run folded into `messages` and `state`. */
  readonly lastRunId?: string | undefined;
  /** The run that was accepted last and has not ended; after a crash it tells what to recover. */
  readonly active?: ActiveFold | undefined;
  /** When each message was begun and each tool call was complete, in ms, by their ids. */
  readonly times?: Readonly<Record<string, number>> | undefined;
  /** Set by the first run of the thread, and never changed afterwards. */
  readonly historyOwner?: HistoryOwner | undefined;
  /** Absent: nothing was pruned. A history that a client made shorter is not a pruned one. */
  readonly pruned?: PrunedMessages | undefined;
  /** The last 100 runs, oldest first. */
  readonly pastRuns?: readonly PastRun[] | undefined;
  /** Ids of the tool calls in `messages` that only a client vouches for. Absent: none. */
  readonly claimed?: readonly string[] | undefined;
}

/** How far a run that has not ended is folded into the `messages` and `state` of its session. */
export interface ActiveFold {
  readonly runId: string;
  /** Entries after this offset are still to be folded. */
  readonly offset: number;
  /** The START events of what was open at that offset. */
  readonly open: readonly BaseEvent[];
  /** The calls that a person has answered for this run. What has no result when the run is lost gets an error. */
  readonly taken?: readonly TakenCall[] | undefined;
}

export interface SessionChange {
  /** By id; never rewrites the whole history. */
  append?: readonly Message[];
  /** Replaces. */
  messages?: readonly Message[];
  state?: unknown;
  /** Merged by key. */
  metadata?: Json;
  pending?: readonly Pending[];
  lastRunId?: string;
  /** `null` clears it. */
  active?: ActiveFold | null;
  /** Of what is new in `messages` or `append`; what is not named here is of now. */
  times?: Readonly<Record<string, number>>;
  /** Messages kept at most, if the store itself keeps no fewer. */
  maxMessages?: number | undefined;
  /** Ignored once the thread has an owner. */
  historyOwner?: HistoryOwner;
  /** Added to `pastRuns`; past 100 the oldest is removed. */
  run?: PastRun;
  /** Replaces. */
  claimed?: readonly string[];
}

/** What a blob is found by; only with the principal it was kept for. */
export interface BlobKey {
  readonly principal: string;
  readonly id: string;
}

/** Bytes that a store keeps. */
export interface StoredBlob {
  readonly size: number;
  readonly metadata: Json;
  /** From the beginning, in pieces. Throws `file-not-found` when they are gone before the last one. */
  read(): AsyncIterable<Uint8Array>;
}

/** Bytes beside the sessions, for every process of the store. They pass through in pieces. */
export interface BlobStore {
  /**
   * Keeps what arrives for so long. Nobody sees it before it is whole, and nothing stays of what broke
   * off. A key is written once: a second time is refused with `run-exists`.
   */
  put(
    key: BlobKey,
    bytes: AsyncIterable<Uint8Array>,
    about: { readonly ttlMs: number; readonly metadata: Json },
  ): Promise<void>;
  get(key: BlobKey): Promise<StoredBlob | undefined>;
  delete(key: BlobKey): Promise<boolean>;
  /** Bytes of all that is kept, of all principals, to within a minute of its expiry. */
  size(): Promise<number>;
}

export interface UpdateOptions {
  /** The change is refused with `thread-busy` when the session is at another version. */
  readonly ifVersion?: number;
  /**
   * The run that writes. The change is refused with `run-lost`, in the same step that would have stored it,
   * once this lease has run out, was taken over, or its run was closed.
   */
  readonly lease?: Lease;
}

export interface SessionStore {
  get(key: ThreadKey): Awaitable<Session | undefined>;
  create(key: ThreadKey, init: { agentId: string; metadata?: Json }): Awaitable<Session>;
  update(key: ThreadKey, change: SessionChange, options?: UpdateOptions): Awaitable<Session>;
  delete(key: ThreadKey): Awaitable<boolean>;
  touch(key: ThreadKey): Awaitable<void>;
  list(query: {
    principal: string;
    agentId?: string;
    limit: number;
    cursor?: string;
  }): Awaitable<{ items: Session[]; next?: string | undefined }>;
  cleanupExpired(): Awaitable<number>;
  /** How many sessions there are, of all principals; cheap, for health checks. */
  count?(): Awaitable<number>;
  close(): Awaitable<void>;
  readonly runs: RunLog;
  /** Shared token bucket. Resolves to 0 or the milliseconds to wait. */
  take(bucket: string, cost: number, rate: { tokens: number; perMs: number }): Awaitable<number>;
  /** For uploads. Absent: this store keeps none. */
  readonly blobs?: BlobStore;
}

// ── Bytes ──────────────────────────────────────────────────────────────────────────────────────

/** Entries of the log to bytes. Pure: no clock, no random id. */
export interface Encoder {
  readonly contentType: string;
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * Set only by an encoder without memory that makes at most one frame per entry. Followers with equal
   * keys share bytes, and the stream may start after any offset.
   */
  readonly key?: string;
  open?(): Chunk;
  /** `''` when this protocol has no word for it. */
  encode(entry: LogEntry): Chunk;
  /**
   * Deltas of one part that were said in one turn, at once: what `encode` makes of each, from the first offset
   * of `entry` on. Absent: they are encoded one by one. Whoever gives another encoder's copy an `encode` of its
   * own has to replace this as well, or to take it out.
   */
  encodeDeltas?(entry: LogEntry, deltas: readonly string[]): Chunk;
  /** Absent: this protocol cannot. `begun` is false until the first entry was sent. */
  keepAlive?(begun: boolean): Chunk;
  /** After the terminal entry. */
  close?(): Chunk;
}

/** Bytes to one client. Knows nothing of events. */
export interface Sink {
  /** False: stop until `onDrain`. Never throws. */
  write(chunk: Chunk): boolean;
  /** Bytes accepted and not yet taken by the peer. */
  readonly pending: number;
  onDrain: (() => void) | undefined;
  /** The peer left; once; not called after `end`. */
  onClose: (() => void) | undefined;
  end(): void;
  destroy(): void;
}

// ── HTTP, once ─────────────────────────────────────────────────────────────────────────────────

/** One request and its answer, as a binding hands it to the handler. */
export interface Exchange {
  /** Built on first use. */
  readonly request: AgentRequest;
  readonly method: string;
  /** After the mount prefix, still encoded, without the query. */
  readonly path: string;
  /** False: the address has no query, told without building `request`. Absent: nobody has looked. */
  readonly hasQuery?: boolean;
  /** A request header by its lower-case name, without building `request`. */
  header(name: string): string | undefined;
  /** Nobody else would answer: what has no route is refused here, through the middleware. */
  readonly isLast?: boolean;
  /** Set when a body parser was here first. */
  readonly parsedBody?: unknown;
  body(): AsyncIterable<Uint8Array>;
  /** The body in one piece; nothing when it is larger. Absent: it is read from `body()`. */
  whole?(maxBytes: number): Promise<Uint8Array | undefined>;
  /** Aborted when the client leaves before it has its whole answer. Absent: nobody can tell. */
  readonly signal?: AbortSignal;
  /** Says what `signal` says, at most once, to who needs no signal. Absent: `signal` says it. */
  onLeave?(listener: () => void): void;
  /** Flushes the head at once. Called exactly once, or `respond` is. */
  reply(status: number, headers: Readonly<Record<string, string>>): Sink;
  /** The whole answer in one piece; its length is told by who sends it. Absent: it goes through `reply`. */
  respond?(status: number, headers: Readonly<Record<string, string>>, body: Chunk): void;
  /** Keeps a run alive after the response (Workers, Vercel). */
  waitUntil?(work: Promise<unknown>): void;
}

/** What a route answers. A `stream` comes from `ActiveRun.stream` only. */
export interface Reply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** A string or bytes as they are; anything else as JSON. */
  readonly body?: Chunk | Json | readonly unknown[];
  readonly stream?: ReplyStream;
}

/** Connects a run to a client once the head is out. */
export interface ReplyStream {
  attach(sink: Sink): void;
  /** The answer will not be sent after all. */
  discard(): void;
  /** Settles when the run behind it has ended. */
  readonly done?: Promise<unknown>;
}

/** What a binding needs to know of a handler. */
export interface ExchangeHandler {
  /** False: no route here and nothing written. */
  handle(exchange: Exchange): Promise<boolean>;
  readonly fetch: (request: Request, ...platform: unknown[]) => Promise<Response>;
  close(options?: { timeoutMs?: number }): Promise<void>;
  start(): Promise<void>;
}

// ── Protocols ──────────────────────────────────────────────────────────────────────────────────

export interface Protocol {
  readonly name: string;
  readonly history: "client" | "server";
  isId?(id: string): boolean;
  /** What happens to a thread this server has never seen, unless the host says. By default it is made. */
  readonly onUnknownThread?: "create" | "reject";
  routes(host: ProtocolHost): readonly Route[];
  /** Merged into discovery. */
  describe?(host: ProtocolHost): Json;
  /** Loads what the first request would wait for. Called by `start()`. */
  warm?(): Promise<unknown>;
}

export interface Route {
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  /** `'/agent/:name/chat'`; a parameter is one decoded segment. */
  readonly path: string;
  /** `"optional-json"`: none at all is fine too, and then `call.body` is undefined. */
  readonly body?: "json" | "optional-json" | "multipart" | "json-or-multipart";
  /** Several routes may share method and path if all but one can recognise their bodies. */
  claims?(body: unknown): boolean;
  /** False: it is not asked for by this query, and the host may have a page of its own there. */
  wants?(query: URLSearchParams): boolean;
  /** Whoever mounts it answers the same, like discovery: of several on one path the first is taken. */
  readonly shared?: boolean;
  /** No `authenticate`. */
  readonly public?: boolean;
  handle(call: Call): Awaitable<Reply>;
  /** How a refusal looks here. By default problem+json. */
  fail?(error: AgentError, call: Call): Reply;
  /** What `openapi()` says of it: an operation of OpenAPI 3.1. May load what it is made from. */
  operation?(): Awaitable<Json>;
}

export interface Call {
  readonly request: AgentRequest;
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** The parsed JSON. Of a multipart request undefined: it is read from `bytes()`. */
  readonly body: unknown;
  readonly principal: Principal | undefined;
  readonly requestId: string;
  /** Aborted when the client leaves before it has its whole answer. Absent: nobody can tell. */
  readonly signal?: AbortSignal | undefined;
  /** Says what `signal` says, at most once, to who needs no signal. Absent: `signal` says it. */
  readonly onLeave?: ((listener: () => void) => void) | undefined;
  header(name: string): string | undefined;
  /**
   * The body as it arrives, unread, of a route that takes multipart. Each piece is the reader's own. Stop
   * reading and the rest is dropped.
   */
  bytes(): AsyncIterable<Uint8Array>;
}

export interface RunRequest {
  /** Absent or `default`: the default agent. */
  readonly agentId?: string | undefined;
  readonly input: RunAgentInput;
  readonly protocolVersion?: string | undefined;
  /** No thread, no lease, no log kept. */
  readonly ephemeral?: boolean;
  /**
   * What the client keeps of the conversation and sends with its next request, which the run leaves room
   * for: its messages, these with custom events and state among them, or nothing. By default its messages
   * where the protocol's `history` is the client's, else nothing.
   */
  readonly clientKeeps?: "messages" | "data" | "nothing";
  /** What was uploaded beside the input, for `context.files`. */
  readonly files?: readonly InputFile[];
  /**
   * How the tools in `input.tools` are answered. `"halt"`, the default: the run ends with the call, and
   * the next one brings the result. `"inline"`: `context.callTool` waits for a `tool-result` command.
   */
  readonly clientTools?: "halt" | "inline";
  /** Merged into the metadata of the thread. */
  readonly metadata?: Json;
  /** The server chose the thread's id just now, so that the thread may be made whatever the policy. */
  readonly isNewThread?: boolean;
  /** Messages the thread keeps at most; older ones are pruned. */
  readonly maxMessages?: number;
}

export type RunTarget = { readonly runId: string } | { readonly threadId: string };

export interface ProtocolHost {
  /** The handler's store. Here `delete` first stops the run of the thread, and waits until it has ended. */
  readonly sessions: SessionStore;
  readonly logger: Logger;
  readonly limits: Limits;
  readonly debug: boolean;
  /** Whether the handler was told how to `authenticate`: without it threads are never listed. */
  readonly hasAuthenticate: boolean;
  /** Reads the files of every protocol. Absent: they are passed through. */
  readonly files?: FileProcessor | undefined;
  /** What discovery answers, with what agents have answered of themselves so far. */
  info(): Json;
  /** The same, after agents were asked what they can do. */
  discover?(): Awaitable<Json>;
  start(call: Call, run: RunRequest): Promise<ActiveRun>;
  attach(call: Call, target: RunTarget): Promise<ActiveRun | undefined>;
  send(call: Call, target: RunTarget, command: RunCommand): Promise<boolean>;
  /**
   * Adds what a request is about to the facts that middleware has of it, such as `logging()`. The host does so
   * by itself for `start`, `attach` and `send`.
   */
  note?(call: Call, subject: RequestSubject): void;
}

export interface RunResult {
  readonly messages: readonly Message[];
  readonly state: unknown;
  readonly error?: AgentError | undefined;
  readonly usage: readonly TokenUsage[];
  readonly ms: number;
}

export interface ActiveRun {
  readonly record: RunRecord;
  /**
   * `'start'`: the whole log, then live. A number: what follows it. `'join'`: a stream that stands
   * alone, with snapshots and re-opened parts in place of what is past, then live.
   */
  stream(
    encoder: Encoder,
    from: "start" | "join" | number,
    headers?: Readonly<Record<string, string>>,
  ): Reply;
  /**
   * Waits for the end, and tells of each event on the way; deltas that came together may be told as one.
   * Whoever asked follows the run meanwhile: `onDisconnect` says what its leaving does.
   */
  collect(onEvent?: (event: BaseEvent) => void): Promise<RunResult>;
}

// ── Limits and time ────────────────────────────────────────────────────────────────────────────

/** Every bound, with its default in `docs/limits.md`. */
export interface Limits {
  readonly bodyBytes: number;
  readonly jsonDepth: number;
  readonly files: number;
  readonly fileBytes: number;
  readonly uploadBytes: number;
  readonly inlineFileBytes: number;
  readonly messages: number;
  readonly messageChars: number;
  readonly maxSessions: number;
  readonly maxConcurrentRuns: number;
  readonly queuedRuns: number;
  readonly runTimeoutMs: number;
  readonly toolTimeoutMs: number;
  readonly authenticateMs: number;
  readonly eventBytes: number;
  readonly followerBytes: number;
  readonly stallMs: number;
  readonly appendBytes: number;
  readonly appendMs: number;
  readonly runLogEvents: number;
  readonly runLogBytes: number;
  readonly runLogMs: number;
  readonly logBytes: number;
}

/** Time, so that tests can hold it still. */
export interface Clock {
  now(): number;
  setTimeout(callback: () => void, ms: number): unknown;
  clearTimeout(handle: unknown): void;
}

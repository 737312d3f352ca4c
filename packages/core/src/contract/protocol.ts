import type { Awaitable, Json } from "./agent.ts";
import type { AgentRequest, Logger, Principal } from "./context.ts";
import type { AgentError } from "./errors.ts";
import type { Encoder, Reply } from "./exchange.ts";
import type { FileProcessor, InputFile } from "./files.ts";
import type { Limits } from "./limits.ts";
import type { RequestSubject } from "./middleware.ts";
import type { RunCommand, RunRecord } from "./run-log.ts";
import type { SessionStore } from "./session-store.ts";
import type { BaseEvent, Message, RunAgentInput, TokenUsage } from "@ag-ui/core";

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
  /** Aborted when the client leaves before it has received the whole response. Made when it is first read. */
  readonly signal: AbortSignal;
  /** Calls the listener when `signal` would be aborted, without making a signal. See `Exchange.onLeave`. */
  onLeave(listener: () => void): void;
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

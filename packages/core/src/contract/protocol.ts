import type { AgentEvent, Awaitable, Json } from "./agent.ts";
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
  /** What happens to an unknown thread, unless the host decides. By default the thread is created. */
  readonly onUnknownThread?: "create" | "reject";
  routes(host: ProtocolHost): readonly Route[];
  /** Merged into discovery. */
  describe?(host: ProtocolHost): Json;
}

export interface Route {
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  /** `'/agent/:name/chat'`; a parameter is one decoded segment. */
  readonly path: string;
  /** `"optional-json"`: the body may be absent, and then `call.body` is undefined. */
  readonly body?: "json" | "optional-json" | "multipart" | "json-or-multipart";
  /**
   * Also accepts JSON that is sent as `text/plain`, as by a client that sets no type. Not from a page of another site,
   * which could send that without asking.
   */
  readonly acceptsText?: boolean;
  /** Several routes may share method and path if all but one can recognise their bodies. */
  claims?(body: unknown): boolean;
  /**
   * Returns false when this query is not for the route; the host may then serve its own page there.
   */
  wants?(query: URLSearchParams): boolean;
  /**
   * Every protocol that mounts this route answers the same, like discovery: the first of several on
   * one path is used.
   */
  readonly shared?: boolean;
  /** Skips `authenticate`. */
  readonly public?: boolean;
  handle(call: Call): Awaitable<Reply>;
  /** The format of errors on this route. By default problem+json. */
  fail?(error: AgentError, call: Call): Reply;
  /**
   * Whether `fail` also formats what is refused before the body was read, such as a request without a token. The call
   * has neither body nor principal then. By default this is problem+json.
   */
  readonly failsUnread?: boolean;
  /** The OpenAPI 3.1 operation for `openapi()`. May load what it is generated from. */
  operation?: (() => Awaitable<Json>) | undefined;
}

export interface Call {
  readonly request: AgentRequest;
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** The parsed JSON. Undefined for a multipart request, which is read from `bytes()`. */
  readonly body: unknown;
  readonly principal: Principal | undefined;
  readonly requestId: string;
  /** Aborted when the client leaves before it has received the whole response. Made when it is first read. */
  readonly signal: AbortSignal;
  /** Calls the listener when `signal` would be aborted, without making a signal. See `Exchange.onLeave`. */
  onLeave(listener: () => void): void;
  header(name: string): string | undefined;
  /**
   * The body as it arrives, unread, for a route that accepts multipart. The reader owns each piece. When
   * it stops reading, the rest is dropped.
   */
  bytes(): AsyncIterable<Uint8Array>;
}

export interface RunRequest {
  /** The default agent when absent or `default`. */
  readonly agentId?: string | undefined;
  readonly input: RunAgentInput;
  readonly protocolVersion?: string | undefined;
  /** No thread, no lease, no stored log. */
  readonly ephemeral?: boolean;
  /**
   * Whether `input.messages` holds the whole conversation (`"client"`), or only what is new (`"server"`). By default
   * the protocol's `history`.
   */
  readonly history?: "client" | "server";
  /**
   * What the client keeps of the conversation and sends with its next request, so that the run stays
   * within its limits: its messages, its messages with custom events and state, or nothing. By default
   * its messages if the protocol's `history` is the client's, otherwise nothing.
   */
  readonly clientKeeps?: "messages" | "data" | "nothing";
  /** Files uploaded with the input, for `context.files`. */
  readonly files?: readonly InputFile[];
  /**
   * How the tools in `input.tools` are answered. `"halt"`, the default: the run ends with the call, and
   * the next one has the result. `"inline"`: `context.callTool` waits for a `tool-result` command.
   */
  readonly clientTools?: "halt" | "inline";
  /** Merged into the metadata of the thread. */
  readonly metadata?: Json;
  /** The server has just chosen the thread's id, so the thread may be created under any policy. */
  readonly isNewThread?: boolean;
  /** Messages the thread keeps at most; older ones are pruned. */
  readonly maxMessages?: number;
  /**
   * Once it was followed or collected, the run goes on without a client. It counts as followed until it ends: no other
   * run takes its place because its clients have left.
   */
  readonly isBackground?: boolean;
  /** Events that the log has before those of the agent, such as what a protocol needs to show the run again. */
  readonly prologue?: readonly AgentEvent[];
}

export type RunTarget = { readonly runId: string } | { readonly threadId: string };

export interface ProtocolHost {
  /** The handler's store. Here `delete` first stops the run of the thread and waits for its end. */
  readonly sessions: SessionStore;
  readonly logger: Logger;
  readonly limits: Limits;
  readonly debug: boolean;
  /** Whether the handler has an `authenticate` option: without it threads are never listed. */
  readonly hasAuthenticate: boolean;
  /** Reads the files of every protocol. If absent, they are passed through. */
  readonly files?: FileProcessor | undefined;
  /** The names of the tools that run on the server for an agent, as far as they are known before a run. */
  serverTools(agentId: string | undefined): ReadonlySet<string>;
  /** The discovery document, with the capabilities that agents have reported so far. */
  info(): Json;
  /** The same, after asking the agents for their capabilities. */
  discover?(): Awaitable<Json>;
  start(call: Call, run: RunRequest): Promise<ActiveRun>;
  attach(call: Call, target: RunTarget): Promise<ActiveRun | undefined>;
  send(call: Call, target: RunTarget, command: RunCommand): Promise<boolean>;
  /**
   * Adds what a request is about to the facts available to middleware such as `logging()`. The host does so
   * itself for `start`, `attach` and `send`.
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
   * `'start'`: the whole log, then live. A number: what follows that offset. `'join'`: a
   * self-contained stream, with snapshots and re-opened parts in place of past events, then live.
   */
  stream(
    encoder: Encoder,
    from: "start" | "join" | number,
    headers?: Readonly<Record<string, string>>,
  ): Reply;
  /**
   * Waits for the end and reports each event on the way; deltas that arrived together may be reported as
   * one. The caller counts as a follower meanwhile: `onDisconnect` decides what its disconnecting does.
   */
  collect(onEvent?: (event: BaseEvent) => void): Promise<RunResult>;
}

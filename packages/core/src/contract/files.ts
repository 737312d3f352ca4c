import type { Awaitable } from "./agent.ts";
import type { Logger, Principal } from "./context.ts";
import type { Limits } from "./limits.ts";
import type { ProtocolHost, Route } from "./protocol.ts";
import type { SessionStore } from "./session-store.ts";
import type { Message, RunAgentInput } from "@ag-ui/core";

export interface InputFile {
  readonly name: string;
  readonly mimeType: string;
  readonly size: number;
  bytes(): Promise<Uint8Array>;
  stream(): ReadableStream<Uint8Array>;
}

/** The input of a file processor: the decoded input, and the files uploaded with it. */
export interface FileJob {
  readonly input: RunAgentInput;
  /** From a form; they belong to the last user message. */
  readonly uploads: readonly InputFile[];
  readonly principal: Principal | undefined;
  /** Whose files take turns: the principal, or the client's network where there is none. */
  readonly caller: string;
  readonly limits: Limits;
  readonly logger: Logger;
  readonly requestId: string;
  /** The handler's session store, which may also store uploads. */
  readonly sessions: SessionStore;
  /** Aborted when the client disconnects. */
  readonly signal?: AbortSignal | undefined;
}

export interface ProcessedFiles {
  /** Messages that the agent receives in another form, by the message that was sent. */
  readonly messages: ReadonlyMap<Message, Message>;
  /** For `context.files`. */
  readonly files: readonly InputFile[];
  /** Called when the run has ended, in any way, or will not start. */
  release(): Awaitable<void>;
}

/** Stores the files of a form until the end of their run. */
export interface FileSpool {
  /** For one file, as it arrives. */
  open(): FileWriter;
  /** Also releases files that were not completed. */
  release(): Awaitable<void>;
}

export interface FileWriter {
  /** The writer owns the bytes from then on. */
  write(bytes: Uint8Array): Awaitable<void>;
  end(about: Pick<InputFile, "name" | "mimeType">): Awaitable<InputFile>;
}

/** Processes uploads before the agent receives them. */
export interface FileProcessor {
  /** File types that may be sent, for protocols that would refuse them otherwise. */
  readonly mimeTypes?: readonly string[];
  /** Called before the run acquires its thread: a thrown `AgentError` becomes an HTTP response. */
  process(job: FileJob): Promise<ProcessedFiles>;
  /** If absent, the files of a form stay in memory. */
  spool?(): FileSpool;
  /** Additional routes, next to those of the protocols. */
  routes?(host: Pick<ProtocolHost, "limits" | "logger" | "sessions">): readonly Route[];
  /** Called when the handler closes. */
  close?(): Awaitable<void>;
}

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

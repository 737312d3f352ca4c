import { idHeader } from "@holodeck/agui-core/internal";
import type { Call, ProtocolHost } from "@holodeck/agui-core";
import { maskedFailure } from "./shared/run-failure.ts";
import type { StreamFailure } from "./shared/run-failure.ts";
import { wordsOf } from "./stream-encoder.ts";
import type { StreamFormat, StreamOptions } from "./stream-encoder.ts";

/** Where the AI SDK is served, and how it is spoken to. */
export interface VercelOptions extends StreamOptions {
  /**
   * Where `useChat` posts to, or several such places.
   * @default ["/api/chat", "/chat"]
   */
  path?: string | readonly string[];
  /**
   * The stream protocol. By default it depends on the body: a UI message stream, or the data stream before
   * AI SDK 5.
   */
  protocol?: StreamFormat;
  /**
   * The oldest AI SDK among the clients. From 6 on there is `finishReason`; with 5 there are no tool approvals, which that
   * version cannot read. By default all versions can read the stream, except 5 in runs that ask for an approval. A client
   * may send its own version: `api: "/api/chat?sdkVersion=6"`.
   */
  sdkVersion?: 5 | 6 | 7;
}

/** The options, with all paths. */
export interface VercelSettings extends Omit<VercelOptions, "path"> {
  readonly paths: readonly string[];
}

/** What every route needs to know. */
export interface MountedChat extends VercelSettings {
  readonly host: ProtocolHost;
}

/** The AI SDK that a client has named, or that the server expects. */
export function versionOf(call: Call, { sdkVersion }: MountedChat): 5 | 6 | 7 | undefined {
  const asked = Number(call.query.get("sdkVersion"));
  return asked === 5 || asked === 6 || asked === 7 ? asked : sdkVersion;
}

/** The text that a client receives for a failed run. */
export function describeFailure(failure: StreamFailure, { host, onError }: MountedChat): string {
  if (onError) return wordsOf(onError, failure, host.logger);
  return host.debug ? failure.message : maskedFailure;
}

/** The header by which `WorkflowChatTransport` asks for the rest of a stream. */
export function workflowRun(runId: string): Record<string, string> {
  return idHeader("x-workflow-run-id", runId);
}

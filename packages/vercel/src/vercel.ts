import { AgentError, isAgentError, ulid } from "@holodeck/agui-core";
import { assertOptions, describeValue } from "@holodeck/agui-core/internal";
import type {
  ActiveRun,
  Call,
  Encoder,
  Json,
  Protocol,
  ProtocolHost,
  Reply,
  Route,
} from "@holodeck/agui-core";
import { decodeUi } from "./decode/decode-ui.ts";
import { decodeV4 } from "./decode/decode-v4.ts";
import { isChatBody, isUiBody } from "./decode/generation.ts";
import { continuedBy, toRunId } from "./decode/message-id.ts";
import { chatOperation, resumeOperation, stopOperation } from "./operations.ts";
import {
  assertStreamOptions,
  createStreamEncoder,
  streamOptionNames,
  wordsOf,
} from "./stream-encoder.ts";
import type { StreamOptions, StreamFormat } from "./stream-encoder.ts";
import { heldBefore, heldIds, withThread } from "./decode/thread.ts";
import { maskedFailure } from "./shared/run-failure.ts";
import type { StreamFailure } from "./shared/run-failure.ts";

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
   * The oldest AI SDK among the clients. From 6 on there are tool approvals and `finishReason`. A client
   * may send its own version: `api: "/api/chat?sdkVersion=6"`.
   * @default 5
   */
  sdkVersion?: 5 | 6 | 7;
}

/**
 * The AI SDK's `useChat`: `POST {path}` runs an agent, `GET {path}/:id/stream` resumes its stream,
 * `POST {path}/:id/stop` stops it.
 *
 * @example
 * ```ts
 * createAgentHandler(agent, { protocols: [vercel({ sdkVersion: 6 })] });
 * ```
 */
export function vercel(options: VercelOptions = {}): Protocol {
  const settings = readOptions(options);
  return {
    name: "vercel",
    history: "client",
    routes: (host) => settings.paths.flatMap((path) => routesAt(path, { ...settings, host })),
    describe: () => ({
      protocols: {
        vercel: {
          path: settings.paths.length === 1 ? settings.paths[0] : settings.paths,
          streams: settings.protocol ? [settings.protocol] : ["ui", "data"],
        },
      },
    }),
  };
}

interface VercelSettings extends Omit<VercelOptions, "path"> {
  readonly paths: readonly string[];
}

interface Mounted extends VercelSettings {
  readonly host: ProtocolHost;
}

function readOptions(options: VercelOptions): VercelSettings {
  assertOptions("vercel", options, ["path", ...streamOptionNames]);
  assertStreamOptions("vercel", options);
  const { path = ["/api/chat", "/chat"], ...rest } = options;
  const paths = (typeof path === "string" ? [path] : path).map((one) => {
    if (typeof one === "string" && one.startsWith("/")) return one;
    throw new TypeError(`vercel({ path: ${describeValue(one)} }) must start with "/".`);
  });
  if (paths.length === 0) throw new TypeError('vercel({ path }) needs at least one: "/api/chat".');
  return { ...rest, paths };
}

function routesAt(path: string, mounted: Mounted): Route[] {
  const base = path.replace(/\/$/, "");
  return [
    {
      method: "POST",
      path,
      body: "json",
      claims: isChatBody,
      handle: (call) => chat(call, mounted),
      operation: () => chatOperation(path),
    },
    {
      method: "GET",
      path,
      // The host may serve a page at the path that the chat is posted to.
      wants: (query) => query.has("chatId"),
      handle: (call) => resume(call, { ...mounted, wire: mounted.protocol ?? "data" }),
      operation: () => resumeOperation(path, "data"),
    },
    {
      method: "GET",
      path: `${base}/:id/stream`,
      handle: (call) => resume(call, { ...mounted, wire: mounted.protocol ?? "ui" }),
      operation: () => resumeOperation(path, "ui"),
    },
    {
      method: "POST",
      path: `${base}/:id/stop`,
      handle: (call) => stop(call, mounted),
      operation: () => stopOperation(path),
    },
  ];
}

async function chat(call: Call, mounted: Mounted): Promise<Reply> {
  const { host, mode, legacyHeaders } = mounted;
  const body = readBody(call.body);
  const id = ulid();
  const isUi = isUiBody(body);
  const decode = isUi ? decodeUi : decodeV4;
  const decoded = decode(body, { runId: id, limits: host.limits });
  const isSingle = !("messages" in body);
  const { input, agentId, continues, denied } = await withThread(decoded, {
    call,
    host,
    isSingle,
  });
  const runId = toRunId(id, continues);
  const wire = mounted.protocol ?? (isUi || isNewCompletion(body, call, mounted) ? "ui" : "data");
  const active = await host.start(call, {
    agentId,
    input: runId === input.runId ? input : { ...input, runId },
    protocolVersion: "1.0",
    // No client could return to a thread without an id, and each would count against the limit.
    ephemeral: isCompletion(body) && !("id" in body),
    clientKeeps: isSingle ? "nothing" : "data",
  });
  const encoder = createStreamEncoder({
    wire,
    mode,
    legacyHeaders,
    // Only the UI stream uses it; reading the query requires parsing the URL.
    sdkVersion: wire === "ui" ? versionOf(call, mounted) : undefined,
    continues,
    denied,
    jsonDepth: host.limits.jsonDepth,
    known: continues === undefined ? undefined : heldIds(input.messages),
    describeFailure(failure) {
      host.logger.error({ runId, ...failure }, "A run failed.");
      return describeFailure(failure, mounted);
    },
  });
  return active.stream(encoder, "start");
}

// A prompt looks the same in every version; the configured version decides.
function isNewCompletion(body: Json, call: Call, { sdkVersion }: Mounted): boolean {
  return isCompletion(body) && (sdkVersion !== undefined || call.query.has("sdkVersion"));
}

function isCompletion(body: Json): boolean {
  return !("messages" in body) && !("message" in body);
}

function readBody(body: unknown): Json {
  if (isChatBody(body)) return body as Json;
  throw new AgentError(
    "invalid-request",
    "The body needs messages (an array), message (an object) or prompt (a string), as useChat and " +
      "useCompletion send them.",
  );
}

interface Wanted extends Mounted {
  readonly wire: StreamFormat;
}

async function resume(call: Call, wanted: Wanted): Promise<Reply> {
  const { host, wire } = wanted;
  const threadId = call.params.id ?? call.query.get("chatId");
  if (!threadId) {
    throw new AgentError(
      "invalid-request",
      "Pass the id of the chat to resume: ?chatId=<id of the chat>.",
    );
  }
  const active = await host.attach(call, { threadId });
  const continues = active && continuedBy(active.record.runId);
  const preface = active && continues !== undefined ? await heldBefore(active.record, host) : [];
  const encoder = createStreamEncoder({
    ...wanted,
    sdkVersion: versionOf(call, wanted),
    continues,
    preface,
    jsonDepth: host.limits.jsonDepth,
    describeFailure: (failure) => describeFailure(failure, wanted),
  });
  return (active && preface && replay(active, encoder)) ?? nothingToResume(wire, encoder);
}

function replay(active: ActiveRun, encoder: Encoder): Reply | undefined {
  try {
    return active.stream(encoder, "start");
  } catch (error) {
    // The start was trimmed, and half a message is useless.
    if (isAgentError(error) && error.code === "replay-gone") return undefined;
    throw error;
  }
}

// Any 4xx is an error to these clients; 204 is one to those before AI SDK 5.
function nothingToResume(wire: Wanted["wire"], encoder: Encoder): Reply {
  if (wire === "ui") return { status: 204 };
  const headers = { "content-type": encoder.contentType, ...encoder.headers };
  return { status: 200, headers, body: "" };
}

async function stop(call: Call, { host }: Mounted): Promise<Reply> {
  const { id: threadId = "" } = call.params;
  const stopped = await host.send(call, { threadId }, { type: "stop" });
  return { status: stopped ? 202 : 200, body: { id: threadId, stopped } };
}

function versionOf(call: Call, { sdkVersion = 5 }: Mounted): 5 | 6 | 7 {
  const asked = Number(call.query.get("sdkVersion"));
  return asked === 5 || asked === 6 || asked === 7 ? asked : sdkVersion;
}

function describeFailure(failure: StreamFailure, { host, onError }: Mounted): string {
  if (onError) return wordsOf(onError, failure, host.logger);
  return host.debug ? failure.message : maskedFailure;
}

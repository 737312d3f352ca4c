import { AgentError, assertOptions, describeValue, isAgentError, ulid } from "@holodeck/agui-core";
import type {
  ActiveRun,
  Call,
  Encoder,
  Json,
  Message,
  Protocol,
  ProtocolHost,
  Reply,
  Route,
} from "@holodeck/agui-core";
import { decodeUi } from "./decode-ui.ts";
import { isChatBody, isUiBody } from "./generation.ts";
import { continuedBy, toRunId } from "./message-id.ts";
import { chatOperation, resumeOperation, stopOperation } from "./operations.ts";
import { heldBefore, heldIds, withThread } from "./thread.ts";
import { maskedFailure, uiStreamEncoder } from "./ui-stream-encoder.ts";
import type { RunFailure } from "./ui-stream-encoder.ts";

/** Where the AI SDK is served, and how it is spoken to. */
export interface VercelOptions {
  /**
   * Where `useChat` posts to, or several such places.
   * @default ["/api/chat", "/chat"]
   */
  path?: string | readonly string[];
  /** How to answer. By default the body tells: a UI message stream, or the data stream before AI SDK 5. */
  protocol?: "ui" | "data" | "text";
  /** The data stream for the parser of AI SDK 3.4, which knows fewer parts. */
  mode?: "3.4";
  /**
   * The oldest AI SDK among the clients. From 6 on there are tool approvals and `finishReason`. A client
   * may say it itself: `api: "/api/chat?sdkVersion=6"`.
   * @default 5
   */
  sdkVersion?: 5 | 6 | 7;
  /** Sends `Connection` and `Content-Encoding`, as servers of old did; for HTTP/1 only. */
  legacyHeaders?: boolean;
  /** What the client is told of a failed run. By default "An error occurred."; with `debug` the truth. */
  onError?: (failure: RunFailure) => string;
}

const optionNames = ["path", "protocol", "mode", "sdkVersion", "legacyHeaders", "onError"];

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
  assertOptions("vercel", options, optionNames);
  const { path = ["/api/chat", "/chat"], ...rest } = options;
  const paths = (typeof path === "string" ? [path] : path).map((one) => {
    if (typeof one === "string" && one.startsWith("/")) return one;
    throw new TypeError(`vercel({ path: ${describeValue(one)} }) must start with "/".`);
  });
  if (paths.length === 0) throw new TypeError('vercel({ path }) needs at least one: "/api/chat".');
  assertOneOf("protocol", rest.protocol, ["ui", "data", "text"]);
  assertOneOf("mode", rest.mode, ["3.4"]);
  assertOneOf("sdkVersion", rest.sdkVersion, [5, 6, 7]);
  return { ...rest, paths };
}

function assertOneOf(name: string, value: unknown, known: readonly unknown[]): void {
  if (value === undefined || known.includes(value)) return;
  const list = known.map((one) => JSON.stringify(one)).join(", ");
  throw new TypeError(`vercel({ ${name}: ${describeValue(value)} }) must be one of ${list}.`);
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
  const { host } = mounted;
  const body = readBody(call.body);
  const id = ulid();
  const decoded = decodeUi(body, { runId: id, limits: host.limits });
  const isSingle = !("messages" in body);
  const { input, agentId, continues } = await withThread(decoded, { call, host, isSingle });
  const runId = toRunId(id, continues);
  const wire = mounted.protocol ?? (isUiBody(body) ? "ui" : "data");
  const active = await host.start(call, {
    agentId,
    input: { ...input, runId },
    protocolVersion: "1.0",
  });
  const encoder = createEncoder(call, {
    ...mounted,
    wire,
    continues,
    known: continues === undefined ? undefined : heldIds(input.messages),
    describeFailure(failure) {
      host.logger.error({ runId, ...failure }, "A run failed.");
      return describeFailure(failure, mounted);
    },
  });
  return active.stream(encoder, "start");
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
  readonly wire: "ui" | "data" | "text";
}

async function resume(call: Call, wanted: Wanted): Promise<Reply> {
  const { host, wire } = wanted;
  const threadId = call.params.id ?? call.query.get("chatId");
  if (!threadId) {
    throw new AgentError("invalid-request", "Say which chat to resume: ?chatId=<id of the chat>.");
  }
  const active = await host.attach(call, { threadId });
  const continues = active && continuedBy(active.record.runId);
  const preface = active && continues !== undefined ? await heldBefore(active.record, host) : [];
  const encoder = createEncoder(call, {
    ...wanted,
    continues,
    preface,
    describeFailure: (failure) => describeFailure(failure, wanted),
  });
  return (active && preface && replay(active, encoder)) ?? nothingToResume(wire, encoder);
}

function replay(active: ActiveRun, encoder: Encoder): Reply | undefined {
  try {
    return active.stream(encoder, "start");
  } catch (error) {
    // The start was trimmed, and half a message helps nobody.
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

interface EncoderChoice extends Wanted {
  readonly continues: string | undefined;
  readonly known?: ReadonlySet<string> | undefined;
  readonly preface?: readonly Message[] | undefined;
  readonly describeFailure: (failure: RunFailure) => string;
}

function createEncoder(call: Call, choice: EncoderChoice): Encoder {
  const sdkVersion = readVersion(call) ?? choice.sdkVersion ?? 5;
  return uiStreamEncoder({ ...choice, sdkVersion });
}

function readVersion(call: Call): 5 | 6 | 7 | undefined {
  const version = Number(call.query.get("sdkVersion"));
  return version === 5 || version === 6 || version === 7 ? version : undefined;
}

function describeFailure(failure: RunFailure, { host, onError }: Mounted): string {
  if (onError) return onError(failure);
  return host.debug ? failure.message : maskedFailure;
}

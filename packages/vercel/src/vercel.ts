import { AgentError, ulid } from "@holodeck/agui-core";
import { assertOptions, describeValue } from "@holodeck/agui-core/internal";
import type { Call, Json, Protocol, Reply, Route } from "@holodeck/agui-core";
import { decodeUi } from "./decode/decode-ui.ts";
import { decodeV4 } from "./decode/decode-v4.ts";
import { isChatBody, isUiBody } from "./decode/generation.ts";
import { readKey, toRunId } from "./decode/message-id.ts";
import { chatOperation, resumeOperation, stopOperation } from "./operations.ts";
import { assertStreamOptions, createStreamEncoder, streamOptionNames } from "./stream-encoder.ts";
import { heldIds, withThread } from "./decode/thread.ts";
import { describeFailure, versionOf, workflowRun } from "./mounted-chat.ts";
import type { MountedChat, VercelOptions, VercelSettings } from "./mounted-chat.ts";
import { resume } from "./resume.ts";

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
  return createVercel(options, { chatOperation, resumeOperation, stopOperation });
}

/** The same without the description for OpenAPI, which a small bundle has no room for. */
export function slimVercel(options: VercelOptions = {}): Protocol {
  return createVercel(options);
}

/** The OpenAPI operations of the routes; a bundler finds them only from the protocol that has them. */
interface VercelOperations {
  chatOperation(path: string): Promise<Json>;
  resumeOperation(path: string, wire: "data" | "ui"): Promise<Json>;
  stopOperation(path: string): Promise<Json>;
}

function createVercel(options: VercelOptions, operations?: VercelOperations): Protocol {
  const settings = readOptions(options);
  return {
    name: "vercel",
    history: "client",
    routes: (host) =>
      settings.paths.flatMap((path) => routesAt(path, { ...settings, host }, operations)),
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

function routesAt(
  path: string,
  mounted: MountedChat,
  operations: VercelOperations | undefined,
): Route[] {
  const base = path.replace(/\/$/, "");
  return [
    {
      method: "POST",
      path,
      body: "json",
      acceptsText: true,
      claims: isChatBody,
      handle: (call) => chat(call, mounted),
      operation: operations && (() => operations.chatOperation(path)),
    },
    {
      method: "GET",
      path,
      // The host may serve a page at the path that the chat is posted to.
      wants: (query) => query.has("chatId"),
      handle: (call) => resume(call, { ...mounted, wire: mounted.protocol ?? "data" }),
      operation: operations && (() => operations.resumeOperation(path, "data")),
    },
    {
      method: "GET",
      path: `${base}/:id/stream`,
      handle: (call) => resume(call, { ...mounted, wire: mounted.protocol ?? "ui" }),
      operation: operations && (() => operations.resumeOperation(path, "ui")),
    },
    {
      method: "POST",
      path: `${base}/:id/stop`,
      handle: (call) => stop(call, mounted),
      operation: operations && (() => operations.stopOperation(path)),
    },
  ];
}

async function chat(call: Call, mounted: MountedChat): Promise<Reply> {
  const { host, mode, legacyHeaders } = mounted;
  const body = readBody(call.body);
  const id = readKey(call.header("idempotency-key")) ?? ulid();
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
  return active.stream(encoder, "start", wire === "ui" ? workflowRun(runId) : undefined);
}

// A prompt looks the same in every version; the configured version decides.
function isNewCompletion(body: Json, call: Call, { sdkVersion }: MountedChat): boolean {
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

async function stop(call: Call, { host }: MountedChat): Promise<Reply> {
  const { id: threadId = "" } = call.params;
  const stopped = await host.send(call, { threadId }, { type: "stop" });
  return { status: stopped ? 202 : 200, body: { id: threadId, stopped } };
}

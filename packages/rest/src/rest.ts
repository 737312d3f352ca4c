import { AgentError, assertOptions, describeValue, isAgentError, ulid } from "@holodeck/agui-core";
import type {
  ActiveRun,
  Awaitable,
  Call,
  InputFile,
  Message,
  Protocol,
  ProtocolHost,
  Reply,
  Route,
  RunAgentInput,
  ThreadKey,
} from "@holodeck/agui-core";
import { toChatResponse } from "./chat-response.ts";
import { loadZod } from "./chat-schemas.ts";
import { composeMessage } from "./compose-message.ts";
import type { ComposeMessageOptions } from "./compose-message.ts";
import { idRules } from "./ids.ts";
import type { IdFormat } from "./ids.ts";
import { essenceOf, SUPPORTED_MIME_TYPES } from "./mime-types.ts";
import { chatOperation, deleteOperation } from "./operations.ts";
import { createChatReader } from "./read-chat.ts";
import { restSseEncoder } from "./rest-sse-encoder.ts";
import { createUploadBudget } from "./upload-budget.ts";
import type { UploadShare } from "./upload-budget.ts";

/** Where and within which bounds REST is served. */
export interface RestOptions {
  /**
   * Where agents are asked: `{path}/:name/chat` and `{path}/:name/chat/stream`. One path or several.
   * @default "/agent"
   */
  path?: string | readonly string[];
  /**
   * Where sessions are deleted: `{sessionsPath}/:id`. One path or several.
   * @default "/sessions"
   */
  sessionsPath?: string | readonly string[];
  /**
   * Code points of a message. `limits.messageChars` counts as well.
   * @default 10_000
   */
  messageChars?: number;
  /**
   * How the ids of sessions look.
   * @default "ulid"
   */
  idFormat?: IdFormat;
  /** Types of files that may be sent besides `SUPPORTED_MIME_TYPES`. */
  mimeTypes?: readonly string[];
  /** What the agent is told of a message and its files. By default what `composeMessage` makes of them. */
  composeMessage?: (
    message: string,
    files: readonly InputFile[],
    options: ComposeMessageOptions,
  ) => Awaitable<Extract<Message, { role: "user" }>["content"]>;
}

const optionNames = [
  "path",
  "sessionsPath",
  "messageChars",
  "idFormat",
  "mimeTypes",
  "composeMessage",
];

/**
 * Plain REST: `POST /agent/:name/chat` answers as JSON, `POST /agent/:name/chat/stream` as server-sent
 * events, `DELETE /sessions/:id` forgets a session. The server keeps the conversation.
 *
 * @example
 * ```ts
 * createAgentHandler({ helper: agent }, { protocols: [rest()] });
 * ```
 */
export function rest(options: RestOptions = {}): Protocol {
  assertOptions("rest", options, optionNames);
  const settings = {
    paths: toPaths("path", options.path ?? "/agent"),
    sessionsPaths: toPaths("sessionsPath", options.sessionsPath ?? "/sessions"),
    messageChars: options.messageChars ?? 10_000,
    idFormat: options.idFormat ?? "ulid",
    mimeTypes: new Set([...SUPPORTED_MIME_TYPES, ...toTypes(options.mimeTypes ?? [])]),
    compose: options.composeMessage ?? composeMessage,
  };
  check(settings);
  const { paths, sessionsPaths, idFormat } = settings;
  return {
    name: "rest",
    history: "server",
    isId: idRules[idFormat].isId,
    routes: (host) => createRoutes(settings, host),
    describe: () => ({
      protocols: { rest: { path: one(paths), sessionsPath: one(sessionsPaths) } },
    }),
    // What a request would wait for.
    warm: () => Promise.all([loadZod(), import("@remix-run/multipart-parser")]),
  };
}

// Each of them stays in memory until its run has ended.
const uploadsAtOnce = 4;

interface Settings {
  readonly paths: readonly string[];
  readonly sessionsPaths: readonly string[];
  readonly messageChars: number;
  readonly idFormat: IdFormat;
  readonly mimeTypes: ReadonlySet<string>;
  readonly compose: NonNullable<RestOptions["composeMessage"]>;
}

function createRoutes(settings: Settings, host: ProtocolHost): Route[] {
  const { limits, logger } = host;
  const { idFormat, mimeTypes } = settings;
  const messageChars = Math.min(settings.messageChars, limits.messageChars);
  const reader = createChatReader(
    { files: limits.files, messageChars, idFormat, mimeTypes },
    limits,
  );

  const newShare = createUploadBudget(uploadsAtOnce * limits.uploadBytes);

  async function start(
    call: Call,
    share: UploadShare,
  ): Promise<{ run: ActiveRun; askedId: string }> {
    const { message, sessionId, files, ignored } = await reader.read(call, share);
    const { requestId } = call;
    if (ignored.length > 0) logger.warn({ requestId, ignored }, "Parts of the body were ignored.");
    const content = await settings.compose(message, files, {
      maxChars: limits.messageChars,
      inlineBytes: limits.inlineFileBytes,
      onTruncate: () => logger.warn({ requestId }, "The text of the files was cut."),
    });
    const askedId = ulid();
    const input: RunAgentInput = {
      threadId: sessionId ?? ulid(),
      runId: ulid(),
      messages: [{ id: askedId, role: "user", content }],
      tools: [],
      context: [],
      state: {},
      forwardedProps: {},
    };
    return { run: await host.start(call, { agentId: call.params["name"], input, files }), askedId };
  }

  async function chat(call: Call): Promise<Reply> {
    const share = newShare();
    try {
      const { run, askedId } = await start(call, share);
      const result = await run.collect();
      if (result.error) throw originalOf(result.error);
      const { runId, threadId } = run.record;
      return {
        status: 200,
        headers: { "cache-control": "no-store" },
        body: { ...toChatResponse(result, { runId, threadId, askedId }) },
      };
    } finally {
      share.release();
    }
  }

  async function stream(call: Call): Promise<Reply> {
    const share = newShare();
    try {
      const { run } = await start(call, share);
      const { requestId, request } = call;
      const encoder = restSseEncoder({ requestId, instance: request.url.pathname });
      const reply = run.stream(encoder, "start");
      void Promise.resolve(reply.stream?.done).finally(() => share.release());
      return reply;
    } catch (error) {
      share.release();
      throw error;
    }
  }

  async function forget(call: Call): Promise<Reply> {
    const { id = "" } = call.params;
    const rule = idRules[idFormat];
    if (!rule.isId(id)) throw new AgentError("invalid-request", rule.message);
    const key = { principal: call.principal?.id ?? "", threadId: id };
    await silence(call, key);
    await host.sessions.delete(key);
    return { status: 204 };
  }

  // What is being said in a session ends in good order before it is gone; else it would be lost, or go on
  // for nobody.
  async function silence(call: Call, key: ThreadKey): Promise<void> {
    const { runs } = host.sessions;
    const record = await runs.active(key);
    if (!record || !(await host.send(call, { runId: record.runId }, { type: "stop" }))) return;
    const patience = AbortSignal.timeout(limits.appendMs);
    const rest = runs.follow(record, record.last, patience)[Symbol.asyncIterator]();
    while (!(await rest.next()).done);
  }

  return [
    ...settings.paths.flatMap((path, index): Route[] => [
      {
        method: "POST",
        path: `${path}/:name/chat`,
        body: "json-or-multipart",
        handle: chat,
        operation: async () =>
          chatOperation(await reader.schemas(), {
            operationId: numbered("restChat", index),
            isStream: false,
          }),
      },
      {
        method: "POST",
        path: `${path}/:name/chat/stream`,
        body: "json-or-multipart",
        handle: stream,
        operation: async () =>
          chatOperation(await reader.schemas(), {
            operationId: numbered("restChatStream", index),
            isStream: true,
          }),
      },
    ]),
    ...settings.sessionsPaths.map((path, index): Route => ({
      method: "DELETE",
      path: `${path}/:id`,
      handle: forget,
      operation: () => deleteOperation(numbered("restDeleteSession", index)),
    })),
  ];
}

// An error of the agent's own knows more than what a run tells of it: its status, when to come back.
function originalOf(error: AgentError): AgentError {
  return isAgentError(error.cause) ? error.cause : error;
}

// An id stands once in a document of OpenAPI, however many paths lead to it.
function numbered(name: string, index: number): string {
  return index === 0 ? name : `${name}${index + 1}`;
}

function toPaths(option: string, given: string | readonly string[]): string[] {
  const paths: unknown = typeof given === "string" ? [given] : given;
  if (!Array.isArray(paths) || paths.length === 0) {
    throw new TypeError(
      `rest({ ${option} }) is one path or several, such as "/agent", not ${describeValue(given)}.`,
    );
  }
  return paths.map((path: unknown) => {
    if (typeof path === "string" && path.startsWith("/")) return path.replace(/\/+$/, "");
    throw new TypeError(`rest({ ${option}: ${describeValue(path)} }) must start with "/".`);
  });
}

function toTypes(given: readonly string[]): string[] {
  if (!Array.isArray(given)) {
    throw new TypeError(
      `rest({ mimeTypes }) is a list of types, such as ["audio/wav"], not ${describeValue(given)}.`,
    );
  }
  return given.map((type: unknown) => {
    if (typeof type === "string" && /^[\w.+-]+\/[\w.+-]+$/.test(essenceOf(type)))
      return essenceOf(type);
    throw new TypeError(
      `rest({ mimeTypes: [${describeValue(type)}] }) is no type like "audio/wav".`,
    );
  });
}

function check({ messageChars, idFormat, compose }: Settings): void {
  if (!(messageChars >= 1)) {
    throw new TypeError(`rest({ messageChars: ${String(messageChars)} }) must be at least 1.`);
  }
  if (!Object.hasOwn(idRules, idFormat)) {
    const known = Object.keys(idRules).map((name) => JSON.stringify(name));
    throw new TypeError(
      `rest({ idFormat: ${describeValue(idFormat)} }) must be one of ${known.join(", ")}.`,
    );
  }
  if (typeof compose !== "function") {
    throw new TypeError(
      `rest({ composeMessage }) must be a function, not ${describeValue(compose)}.`,
    );
  }
}

function one(paths: readonly string[]): string | readonly string[] {
  return paths.length === 1 ? paths[0]! : paths;
}

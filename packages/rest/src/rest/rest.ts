import { AgentError, isAgentError, ulid } from "@holodeck/agui-core";
import { toShareOwner } from "@holodeck/agui-core/internal";
import type {
  ActiveRun,
  Awaitable,
  Call,
  InputFile,
  Json,
  Message,
  Protocol,
  ProtocolHost,
  Reply,
  Route,
  RunAgentInput,
} from "@holodeck/agui-core";
import { toChatResponse } from "./chat-response.ts";
import { composeMessage } from "./compose-message.ts";
import { idRules } from "../shared/ids.ts";
import type { ChatBounds } from "./check-chat.ts";
import { deleteOperation, restChatOperation } from "./operations.ts";
import { createChatReader } from "./read-chat.ts";
import type { Upload } from "./read-chat.ts";
import { resolveRestOptions } from "./rest-options.ts";
import type { RestOptions, RestSettings } from "./rest-options.ts";
import { restSseEncoder } from "./rest-sse-encoder.ts";
import { createSuggested } from "../shared/suggested-questions.ts";
import { createUploadBudget } from "./upload-budget.ts";

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
  return createRest(options, { restChatOperation, deleteOperation });
}

/** The same without the description for OpenAPI, which a small bundle has no room for. */
export function slimRest(options: RestOptions = {}): Protocol {
  return createRest(options);
}

/** The OpenAPI operations of the routes; a bundler finds them only from the protocol that has them. */
interface RestOperations {
  restChatOperation(
    bounds: ChatBounds,
    about: { readonly operationId: string; readonly isStream: boolean },
  ): Awaitable<Json>;
  deleteOperation(operationId: string): Json;
}

function createRest(options: RestOptions, operations?: RestOperations): Protocol {
  const settings = resolveRestOptions(options);
  const { paths, sessionsPaths, idFormat } = settings;
  return {
    name: "rest",
    history: "server",
    isId: idRules[idFormat].isId,
    routes: (host) => createRoutes(settings, host, operations),
    describe: () => ({
      protocols: { rest: { path: one(paths), sessionsPath: one(sessionsPaths) } },
    }),
  };
}

/** The message of a request, as the agent receives it. */
interface Asked {
  readonly content: Extract<Message, { role: "user" }>["content"];
  readonly sessionId: string | undefined;
  readonly files: readonly InputFile[];
}

// Each of them stays in memory until its run has ended.
const uploadsAtOnce = 4;

function createRoutes(
  settings: RestSettings,
  host: ProtocolHost,
  operations: RestOperations | undefined,
): Route[] {
  const { limits, logger } = host;
  const { idFormat } = settings;
  const mimeTypes = new Set([...settings.mimeTypes, ...(host.files?.mimeTypes ?? [])]);
  const messageChars = Math.min(settings.messageChars, limits.messageChars);
  const bounds: ChatBounds = { files: limits.files, messageChars, idFormat, mimeTypes };
  const reader = createChatReader(bounds, limits);

  const newShare = createUploadBudget({ uploadBytes: limits.uploadBytes, uploads: uploadsAtOnce });

  // Only a form has files that are read as they come.
  function uploadOf({
    body,
    principal,
    request,
  }: Call): (Upload & { release(): void }) | undefined {
    if (body !== undefined) return undefined;
    const share = newShare(toShareOwner(principal, request.ip));
    const spool = host.files?.spool?.();
    return {
      share,
      spool,
      release() {
        share.release();
        void Promise.resolve(spool?.release()).catch((error: unknown) =>
          logger.error({ error }, "The files of a run were not removed."),
        );
      },
    };
  }

  async function read(call: Call, upload: Upload | undefined): Promise<Asked> {
    const { message, sessionId, files, ignored } = await reader.read(call, upload);
    const { requestId } = call;
    if (ignored.length > 0) logger.warn({ requestId, ignored }, "Parts of the body were ignored.");
    // A processor of the handler's puts the files below the message itself.
    const compose = settings.compose ?? (host.files ? (text: string) => text : composeMessage);
    const content = await compose(message, files, {
      maxChars: limits.messageChars,
      inlineBytes: limits.inlineFileBytes,
      onTruncate: () => logger.warn({ requestId }, "The text of the files was truncated."),
    });
    return { content, sessionId, files };
  }

  function start(call: Call, asked: Asked, askedId: string): Promise<ActiveRun> {
    const { content, sessionId, files } = asked;
    const input: RunAgentInput = {
      threadId: sessionId === undefined ? ulid() : idRules[idFormat].fold(sessionId),
      runId: ulid(),
      messages: [{ id: askedId, role: "user", content }],
      tools: [],
      context: [],
      state: {},
      forwardedProps: {},
    };
    return host.start(call, { agentId: call.params["name"], input, files });
  }

  async function chat(call: Call): Promise<Reply> {
    const upload = uploadOf(call);
    try {
      const askedId = ulid();
      const run = await start(call, await read(call, upload), askedId);
      const suggested = createSuggested();
      const result = await run.collect(suggested.note);
      if (result.error) throw originalOf(result.error);
      const { runId, threadId } = run.record;
      const response = toChatResponse(result, { runId, threadId, askedId });
      return {
        status: 200,
        headers: { "cache-control": "no-store" },
        body: suggested.isThere ? { ...response, ...suggested.fields } : { ...response },
      };
    } finally {
      upload?.release();
    }
  }

  async function stream(call: Call): Promise<Reply> {
    const upload = uploadOf(call);
    try {
      const run = await start(call, await read(call, upload), ulid());
      const { requestId, request } = call;
      const encoder = restSseEncoder({ requestId, instance: request.url.pathname });
      const reply = run.stream(encoder, "start");
      if (upload) void Promise.resolve(reply.stream?.done).finally(() => upload.release());
      return reply;
    } catch (error) {
      upload?.release();
      throw error;
    }
  }

  async function forget(call: Call): Promise<Reply> {
    const { id = "" } = call.params;
    const rule = idRules[idFormat];
    if (!rule.isId(id)) throw new AgentError("invalid-request", rule.message);
    const threadId = rule.fold(id);
    await host.sessions.delete({ principal: call.principal?.id ?? "", threadId });
    return { status: 204 };
  }

  function describeChat(name: string, index: number, isStream: boolean): Route["operation"] {
    const about = { operationId: numbered(name, index), isStream };
    return operations && (() => operations.restChatOperation(bounds, about));
  }

  return [
    ...settings.paths.flatMap((path, index): Route[] => [
      {
        method: "POST",
        path: `${path}/:name/chat`,
        body: "json-or-multipart",
        handle: chat,
        operation: describeChat("restChat", index, false),
      },
      {
        method: "POST",
        path: `${path}/:name/chat/stream`,
        body: "json-or-multipart",
        handle: stream,
        operation: describeChat("restChatStream", index, true),
      },
    ]),
    ...settings.sessionsPaths.map((path, index): Route => ({
      method: "DELETE",
      path: `${path}/:id`,
      handle: forget,
      operation:
        operations && (() => operations.deleteOperation(numbered("restDeleteSession", index))),
    })),
  ];
}

// The agent's own error has more than the run's event: its status and retry time.
function originalOf(error: AgentError): AgentError {
  return isAgentError(error.cause) ? error.cause : error;
}

// An operation id must be unique in an OpenAPI document, however many paths lead to it.
function numbered(name: string, index: number): string {
  return index === 0 ? name : `${name}${index + 1}`;
}

function one(paths: readonly string[]): string | readonly string[] {
  return paths.length === 1 ? paths[0]! : paths;
}

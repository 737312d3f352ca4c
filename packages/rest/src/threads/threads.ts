import { assertOptions, describeValue, isRecord } from "@holodeck/agui-core/internal";
import type { Json, Protocol, ProtocolHost, Route } from "@holodeck/agui-core";
import { answerChat } from "./threads-chat.ts";
import { toThreadsOperation } from "./threads-operations.ts";
import type { ThreadOperation } from "./threads-operations.ts";
import { abortThread, answerTool, deleteThread, getThread, listThreads } from "./threads-routes.ts";
import { toThreadId, toThreadsSettings } from "./threads-settings.ts";
import type { ThreadIdFormat, ThreadsSettings } from "./threads-settings.ts";

/** Where the threads dialect is served, and how strict it is. */
export interface ThreadsOptions {
  /**
   * The prefix of `/chat`, `/threads` and `/tool_result`, or several prefixes.
   * @default "/"
   */
  path?: string | readonly string[];
  /**
   * Messages a thread keeps; the oldest go first, a tool call together with its results. System
   * messages stay.
   * @default 50
   */
  maxMessagesPerThread?: number;
  /**
   * Which thread ids are understood. New ones are UUIDs in any case.
   * @default "uuid"
   */
  idFormat?: ThreadIdFormat;
  /**
   * The status of a request that is not valid.
   * @default 400
   */
  validationStatus?: 400 | 422;
}

const known: Readonly<Record<keyof ThreadsOptions, true>> = {
  path: true,
  maxMessagesPerThread: true,
  idFormat: true,
  validationStatus: true,
};

/**
 * The threads dialect: `POST /chat` sends a message to a thread, answered by a small stream of events
 * or by one JSON object; `GET /threads`, `GET` and `DELETE /threads/:id` read and remove; `POST
 * /threads/:id/abort` stops; `POST /tool_result` submits what a client tool returned.
 *
 * @example
 * ```ts
 * createAgentHandler(agent, { protocols: [threads({ maxMessagesPerThread: 100 })] });
 * ```
 */
export function threads(options: ThreadsOptions = {}): Protocol {
  return createThreads(options, toThreadsOperation);
}

/** The same without the description for OpenAPI, which a small bundle has no room for. */
export function slimThreads(options: ThreadsOptions = {}): Protocol {
  return createThreads(options);
}

/** The OpenAPI operation of a route; a bundler finds it only from the protocol that has it. */
type Describe = (name: ThreadOperation, place: number, settings: ThreadsSettings) => Promise<Json>;

function createThreads(options: ThreadsOptions, describe?: Describe): Protocol {
  assertOptions("threads", options, Object.keys(known));
  const bases = toBases(options.path ?? "/");
  const settings = toThreadsSettings(options);
  return {
    name: "threads",
    history: "server",
    onUnknownThread: "reject",
    isId: (id) => toThreadId(id, settings.idFormat) !== undefined,
    routes: (host) =>
      bases.flatMap((base, index) => routesAt({ base, index, host, settings, describe })),
    describe: () => ({
      protocols: { threads: { path: bases.length === 1 ? bases[0] || "/" : bases } },
    }),
  };
}

function routesAt(place: {
  base: string;
  index: number;
  host: ProtocolHost;
  settings: ThreadsSettings;
  describe: Describe | undefined;
}): Route[] {
  const { base, index, host, settings, describe } = place;
  const operation = (name: ThreadOperation): Route["operation"] =>
    describe && (() => describe(name, index, settings));
  return [
    {
      method: "POST",
      path: `${base}/chat`,
      body: "json",
      claims: isOurs,
      handle: (call) => answerChat(call, host, settings),
      operation: operation("chat"),
    },
    {
      method: "GET",
      path: `${base}/threads`,
      handle: (call) => listThreads(call, host, settings),
      operation: operation("list"),
    },
    {
      method: "GET",
      path: `${base}/threads/:id`,
      handle: (call) => getThread(call, host, settings),
      operation: operation("get"),
    },
    {
      method: "DELETE",
      path: `${base}/threads/:id`,
      handle: (call) => deleteThread(call, host, settings),
      operation: operation("delete"),
    },
    {
      method: "POST",
      path: `${base}/threads/:id/abort`,
      handle: (call) => abortThread(call, host, settings),
      operation: operation("abort"),
    },
    {
      method: "POST",
      path: `${base}/tool_result`,
      body: "json",
      handle: (call) => answerTool(call, host, settings),
      operation: operation("toolResult"),
    },
  ];
}

// Everything except what the AI SDK sends to the same path: a body without a message gets this
// dialect's error.
function isOurs(body: unknown): boolean {
  if (!isRecord(body)) return true;
  if (Object.hasOwn(body, "messages") || Object.hasOwn(body, "prompt")) return false;
  return !isRecord(body.message);
}

function toBases(path: string | readonly string[]): string[] {
  const paths: readonly unknown[] = Array.isArray(path) ? path : [path];
  if (paths.length === 0) throw new TypeError('threads({ path }) needs at least one, e.g. "/".');
  return paths.map((one) => {
    if (typeof one === "string" && one.startsWith("/")) return one.replace(/\/$/, "");
    throw new TypeError(`threads({ path: ${describeValue(one)} }) must start with "/".`);
  });
}

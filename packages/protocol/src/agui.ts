import { AgentError, isOpaqueId, PROTOCOL_VERSION } from "@holodeck/agui-core";
import { assertOptions, describeValue, idHeader, isRecord } from "@holodeck/agui-core/internal";
import type {
  Awaitable,
  Call,
  Encoder,
  Json,
  Protocol,
  ProtocolHost,
  Reply,
  Route,
} from "@holodeck/agui-core";
import { showThread } from "./show-thread.ts";
import { decodePlainInput } from "./decode/decode-plain-input.ts";
import { decodeClosely } from "./decode/decode-run-input.ts";
import { infoRoute } from "./info-route.ts";
import { negotiate } from "./encode/negotiate.ts";
import { operations } from "./operations.ts";
import { loadProtoEncoder, protoMediaType } from "./encode/proto-encoder.ts";
import { aguiSseEncoder } from "./encode/sse-encoder.ts";
import { hydrate } from "./tanstack/hydrate.ts";
import { readTanstackPlace, tanstackEncoder } from "./tanstack/tanstack-encoder.ts";
import type { AguiSseEncoderOptions, WireCase } from "./encode/sse-encoder.ts";

/** Where AG-UI is served. */
export interface AguiOptions {
  /**
   * Where runs are posted, or several such places.
   * @default "/agui"
   */
  path?: string | readonly string[];
  /**
   * The spelling of members in events. `"snake"` is for clients that read `thread_id`; AG-UI
   * clients need `"camel"`. Requests are accepted in both.
   * @default "camel"
   */
  wireCase?: WireCase;
}

/**
 * AG-UI over HTTP: `POST {path}` runs an agent, `GET {path}?threadId=` shows a thread, `GET {path}/info` describes the
 * server, `GET {path}/runs/:runId/events` re-attaches to a run and `POST {path}/runs/:runId/stop` stops it.
 *
 * @example
 * ```ts
 * createAgentHandler(agent, { protocols: [agui({ path: "/agents" })] });
 * ```
 */
export function agui(options: AguiOptions = {}): Protocol {
  return createAgui(options, { ...operations, loadProtoEncoder });
}

/** AG-UI without what a small bundle has no room for: protobuf and the description for OpenAPI. */
export function slimAgui(options: AguiOptions = {}): Protocol {
  return createAgui(options);
}

/** What the slim protocol does without; a bundler finds it only from the other one. */
type AguiExtras = typeof operations & { readonly loadProtoEncoder: typeof loadProtoEncoder };

function createAgui(options: AguiOptions, extras?: AguiExtras): Protocol {
  assertOptions("agui", options, ["path", "wireCase"]);
  const { path = "/agui", wireCase = "camel" } = options;
  if (wireCase !== "camel" && wireCase !== "snake") {
    throw new TypeError(
      `agui({ wireCase }) must be "camel" or "snake", not ${describeValue(wireCase)}.`,
    );
  }
  const paths = (typeof path === "string" ? [path] : path).map(checkPath);
  if (paths.length === 0) throw new TypeError('agui({ path }) needs at least one, e.g. "/agui".');
  return {
    name: "agui",
    history: "client",
    routes: (host) => paths.flatMap((at) => routesAt(at, { host, wireCase, extras })),
    describe: () => ({
      capabilities: {
        transport: { streaming: true, httpBinary: extras !== undefined, resumable: true },
      },
      protocols: {
        agui: {
          path: paths.length === 1 ? paths[0] : paths,
          protocolVersion: PROTOCOL_VERSION,
          transports: extras ? ["sse", "protobuf"] : ["sse"],
          ...(wireCase === "snake" ? { wireCase } : {}),
        },
      },
    }),
  };
}

function checkPath(path: string): string {
  if (!path.startsWith("/")) {
    throw new TypeError(`agui({ path: ${JSON.stringify(path)} }) must start with "/".`);
  }
  return path;
}

/** What every route needs to know. */
interface Served {
  readonly host: ProtocolHost;
  readonly wireCase: WireCase;
  readonly extras: AguiExtras | undefined;
}

function routesAt(path: string, served: Served): Route[] {
  const base = path.replace(/\/$/, "");
  const { extras, wireCase } = served;
  return [
    {
      method: "POST",
      path,
      body: "json",
      handle: (call) => run(call, served),
      operation: extras && (() => extras.describeRun(wireCase)),
    },
    {
      method: "GET",
      path,
      // The host may serve a page at the path that runs are posted to.
      wants: (query) => query.has("threadId") || query.has("runId"),
      handle: (call) => connect(call, served),
      operation: extras && (() => extras.describeConnect(wireCase)),
    },
    infoRoute(`${base}/info`, served.host),
    {
      method: "GET",
      path: `${base}/runs/:runId/events`,
      handle: (call) => attach(call, served),
      operation: extras && (() => extras.describeAttach(wireCase)),
    },
    {
      method: "POST",
      path: `${base}/runs/:runId/stop`,
      handle: (call) => stop(call, served),
      operation: extras && (() => extras.describeStop(wireCase)),
    },
  ];
}

async function run(call: Call, { host, wireCase, extras }: Served): Promise<Reply> {
  // Only TanStack AI names its run in a header, and it sends no version.
  const hasVersion = (call.body as Json | null)?.protocolVersion !== undefined;
  const namesRun = !hasVersion && call.header("x-run-id") !== undefined;
  const body = namesRun ? withoutData(call.body) : call.body;
  const { input, agentId, protocolVersion, warnings } =
    decodePlainInput(body, host.limits) ?? (await decodeClosely(body, host.limits));
  if (warnings.length > 0) {
    host.logger.warn({ requestId: call.requestId, warnings }, "Parts of the input were ignored.");
  }
  // Before the run starts: afterwards a plain response is impossible.
  const isTanstack = namesRun && protocolVersion === undefined;
  const chosen = isTanstack
    ? tanstackEncoder(readTanstackPlace(call.header("last-event-id")))
    : chooseEncoder(call.header("accept"), { protocolVersion, wireCase }, extras);
  const encoder = chosen instanceof Promise ? await chosen : chosen;
  const active = await host.start(call, { agentId, input, protocolVersion });
  return active.stream(encoder, "start");
}

// TanStack AI sends a copy of its `forwardedProps` under this name.
function withoutData(body: unknown): unknown {
  if (!isRecord(body)) return body;
  const { data: _, ...rest } = body;
  return rest;
}

/** A run by its id, or the thread with the run that is active there. */
async function connect(call: Call, served: Served): Promise<Reply> {
  const { host, wireCase, extras } = served;
  const threadId = call.query.get("threadId");
  if (threadId === null) {
    return attach(call, served, {
      runId: call.query.get("runId") ?? "",
      offset: readOffset(call, "any"),
    });
  }
  if (!isOpaqueId(threadId)) {
    throw new AgentError("invalid-request", "threadId must be 1 to 256 visible characters.");
  }
  const accept = call.header("accept") ?? "";
  if (accept.startsWith("application/json")) return hydrate(call, { host, threadId });
  const protocolVersion = call.query.get("protocolVersion") ?? undefined;
  const encoder = await chooseEncoder(accept, { protocolVersion, wireCase }, extras);
  const last = call.header("last-event-id");
  if (last) return attach(call, served, readNamed(last));
  const running = await host.attach(call, { threadId });
  if (running) return running.stream(withRunId(encoder, running.record.runId), "join");
  return showThread(call, { host, threadId, encoder });
}

async function attach(
  call: Call,
  { host, wireCase, extras }: Served,
  place: Place = { runId: call.params.runId ?? "", offset: readOffset(call) },
): Promise<Reply> {
  const { runId, offset } = place;
  const active = await host.attach(call, { runId });
  if (!active) throw new AgentError("run-not-found", `There is no run "${runId}".`);
  const { record } = active;
  if (offset !== undefined && offset > record.last && record.status !== "running") {
    const message = `Run "${runId}" ended at offset ${record.last}; ${offset} was never sent.`;
    throw new AgentError("invalid-request", message);
  }
  // A client that re-attaches need not send its version: the request that started the run did.
  const protocolVersion = call.query.get("protocolVersion") ?? record.protocolVersion;
  const isTanstack = protocolVersion === undefined && call.query.get("offset") === "-1";
  const encoder = isTanstack
    ? tanstackEncoder(readTanstackPlace(call.header("last-event-id")))
    : await chooseEncoder(call.header("accept"), { protocolVersion, wireCase }, extras);
  const chosen = place.isNamed ? withRunId(encoder, runId) : encoder;
  return active.stream(chosen, offset ?? "join", idHeader("x-run-id", record.runId));
}

/** Where a run is to be followed from. */
interface Place {
  readonly runId: string;
  readonly offset: number | undefined;
  /** Whether its ids have the id of the run, too. */
  readonly isNamed?: boolean;
}

/** Ids with the id of their run: the thread may have another one when the client comes back. */
function withRunId(encoder: Encoder, runId: string): Encoder {
  if (encoder.contentType !== "text/event-stream") return encoder;
  const { encodeDeltas: _, key, ...rest } = encoder;
  return {
    ...rest,
    ...(key !== undefined && { key: `${key} ${runId}` }),
    encode: (entry) =>
      (encoder.encode(entry) as string).replace(/^id: /, `id: ${encodeURIComponent(runId)}:`),
  };
}

function readNamed(id: string): Place {
  const [, name, offset] = /^([\w%.!~*'()-]+):(\d{1,15})$/.exec(id) ?? [];
  const runId = name === undefined ? undefined : decode(name);
  if (runId === undefined) {
    const shown = JSON.stringify(id.slice(0, 40));
    throw new AgentError(
      "invalid-request",
      `Last-Event-ID must be one of this stream, not ${shown}.`,
    );
  }
  return { runId, offset: Number(offset), isNamed: true };
}

function decode(name: string): string | undefined {
  try {
    return decodeURIComponent(name);
  } catch {
    return undefined;
  }
}

// A client that repeats its request sends the query again: what it has received since counts. TanStack AI has two forms
// more: `-1` is the start, and a part of what follows an offset is the encoder's to know.
function readOffset(call: Call, forms: "whole" | "any" = "whole"): number | undefined {
  const given = call.header("last-event-id") || (call.query.get("offset") ?? "");
  if (given === "") return undefined;
  if (/^\d{1,15}$/.test(given)) return Number(given);
  if (forms === "any" && given === "-1") return 0;
  if (forms === "any" && /^\d{1,15}\.\d{1,3}$/.test(given)) return Math.floor(Number(given));
  throw new AgentError(
    "invalid-request",
    `An offset must be a whole number, as in \`id:\`, not ${JSON.stringify(given.slice(0, 40))}.`,
  );
}

async function stop(call: Call, { host, wireCase }: Served): Promise<Reply> {
  const { runId = "" } = call.params;
  const id = wireCase === "snake" ? { run_id: runId } : { runId };
  if (await host.send(call, { runId }, { type: "stop" })) {
    return { status: 202, body: { ...id, stopped: true } };
  }
  if (await host.attach(call, { runId })) return { status: 200, body: { ...id, stopped: false } };
  throw new AgentError("run-not-found", `There is no run "${runId}".`);
}

function chooseEncoder(
  accept: string | undefined,
  options: AguiSseEncoderOptions,
  extras: AguiExtras | undefined,
): Awaitable<Encoder> {
  // Older clients cannot decode tool results or reasoning in binary.
  const isBinary = extras !== undefined && options.protocolVersion !== undefined;
  const binding = negotiate(accept, { binary: isBinary });
  if (binding === "proto" && extras) return extras.loadProtoEncoder();
  if (binding === "sse") return aguiSseEncoder(options);
  const message = extras
    ? `This server responds with text/event-stream or ${protoMediaType}; Accept excludes both.`
    : "This server responds with text/event-stream; Accept excludes it.";
  throw new AgentError("not-acceptable", message);
}

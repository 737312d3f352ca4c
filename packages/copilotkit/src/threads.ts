import { AgentError, deriveCall } from "@holodeck/agui-core";
import type {
  Call,
  ListedSession,
  ProtocolHost,
  Reply,
  Route,
  Session,
  ThreadKey,
} from "@holodeck/agui-core";
import { checkBody } from "./bodies.ts";
import { threadEvents } from "@holodeck/agui-protocol";
import { isArchived, toMetadata, toPlainMessage, toThreadRecord } from "./thread-record.ts";

// Archived threads are passed over one page at a time; this many pages are read for one request.
const maxPages = 20;

/** The routes of CopilotKit's thread store, below its runtime's path. */
export function threadRoutes(host: ProtocolHost): Route[] {
  const at = "/threads/:threadId";
  return [
    { method: "GET", path: "/threads", handle: (call) => list(call, host) },
    { method: "PATCH", path: at, body: "json", handle: (call) => change(call, host) },
    { method: "DELETE", path: at, handle: (call) => remove(call, host) },
    {
      method: "POST",
      path: `${at}/archive`,
      body: "json",
      handle: (call) => archive(call, host),
    },
    {
      method: "GET",
      path: `${at}/messages`,
      handle: async (call) => {
        const { messages } = await find(call, host);
        return { status: 200, body: { messages: messages.map(toPlainMessage) } };
      },
    },
    {
      method: "GET",
      path: `${at}/events`,
      handle: async (call) => {
        const session = await find(call, host);
        return { status: 200, body: { events: threadEvents(session) } };
      },
    },
    {
      method: "GET",
      path: `${at}/state`,
      handle: async (call) => {
        const { state = null } = await find(call, host);
        return { status: 200, body: { state } };
      },
    },
  ];
}

/** A request to one of these routes inside an envelope. */
export async function requestThreads(call: Call, host: ProtocolHost): Promise<Reply> {
  const { path, httpMethod } = checkBody("resource", call.params);
  const [pathname = "", search = ""] = path.split("?", 2);
  const segments = pathname.split("/");
  const routes = threadRoutes(host);
  for (const route of routes) {
    const params = route.method === httpMethod ? match(route.path, segments) : undefined;
    if (params)
      return route.handle(deriveCall(call, { params, query: new URLSearchParams(search) }));
  }
  throw new AgentError("not-found", `No route matches ${httpMethod} ${JSON.stringify(pathname)}.`);
}

function match(path: string, segments: readonly string[]): Record<string, string> | undefined {
  const wanted = path.split("/");
  if (wanted.length !== segments.length) return undefined;
  const params: Record<string, string> = {};
  for (const [index, name] of wanted.entries()) {
    const segment = segments[index]!;
    if (!name.startsWith(":")) {
      if (name !== segment) return undefined;
    } else if (segment === "") return undefined;
    else params[name.slice(1)] = decode(segment);
  }
  return params;
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch (cause) {
    const message = `The path segment "${segment}" is not valid percent-encoding.`;
    throw new AgentError("invalid-request", message, { cause });
  }
}

async function list(call: Call, host: ProtocolHost): Promise<Reply> {
  if (!call.principal) {
    const message = "Listing threads requires authentication, which this server does not have.";
    throw new AgentError("authentication-required", message, { status: 403 });
  }
  const read = (name: string): string | undefined => call.query.get(name) ?? undefined;
  const query = checkBody("list", {
    agentId: read("agentId"),
    includeArchived: read("includeArchived"),
    limit: read("limit"),
    cursor: read("cursor"),
  });
  const { includeArchived, limit } = query;
  const agentId = toAgentId(host, query.agentId);
  const threads: ListedSession[] = [];
  let { cursor } = query;
  for (let page = 0; page < maxPages && threads.length < limit; page++) {
    const { items, next } = await host.sessions.list({
      principal: call.principal.id,
      // No more than still needed, so that the cursor is after the last one shown.
      limit: limit - threads.length,
      ...(agentId === undefined ? {} : { agentId }),
      ...(cursor === undefined ? {} : { cursor }),
    });
    threads.push(...items.filter((one) => includeArchived === "true" || !isArchived(one)));
    cursor = next;
    if (next === undefined) break;
  }
  const body = { threads: threads.map(toThreadRecord), nextCursor: cursor ?? null };
  return { status: 200, body };
}

// Clients send "default" for the default agent; threads are stored under its name.
function toAgentId(host: ProtocolHost, given: string | undefined): string | undefined {
  if (given !== "default") return given;
  const { agents, defaultAgent } = host.info();
  return Object.hasOwn(agents as object, given) ? given : String(defaultAgent);
}

async function change(call: Call, host: ProtocolHost): Promise<Reply> {
  const wanted = checkBody("change", call.body);
  const session = await find(call, host);
  const metadata = toMetadata(wanted, session);
  const changed = await host.sessions.update(session, { metadata });
  return { status: 200, body: { ...toThreadRecord(changed) } };
}

async function archive(call: Call, host: ProtocolHost): Promise<Reply> {
  checkBody("archive", call.body);
  const session = await find(call, host);
  await host.sessions.update(session, { metadata: toMetadata({ archived: true }, session) });
  return { status: 200, body: { threadId: session.threadId, archived: true } };
}

async function remove(call: Call, host: ProtocolHost): Promise<Reply> {
  const { threadId } = await find(call, host);
  // A deleted thread needs no answer.
  await host.send(call, { threadId }, { type: "stop" });
  await host.sessions.delete(keyOf(call));
  return { status: 200, body: { threadId, deleted: true } };
}

// Another principal's thread and a missing one look the same.
async function find(call: Call, host: ProtocolHost): Promise<Session> {
  const key = keyOf(call);
  const session = await host.sessions.get(key);
  if (session) return session;
  throw new AgentError("thread-not-found", `There is no thread "${key.threadId}".`);
}

function keyOf({ principal, params }: Call): ThreadKey {
  return { principal: principal?.id ?? "", threadId: params.threadId ?? "" };
}

import { asText, isRecord } from "@holodeck/agui-core/internal";
import { problemText } from "./problem.ts";
import type { Json } from "@holodeck/agui-core";
import type { Wire } from "../model.ts";

/** An agent that can be talked to. */
export interface AgentInfo {
  readonly id: string;
  readonly name: string;
  readonly description?: string;
  /** Questions to begin with, where the host has given some. */
  readonly suggestions: readonly string[];
}

/** What the server is. */
export interface ServerInfo {
  readonly service: string;
  readonly version: string;
  readonly agents: readonly AgentInfo[];
  readonly defaultAgent: string;
  readonly routes: readonly string[];
  readonly wires: readonly Wire[];
}

/** What may be attached; the server has the last word. */
export interface FileLimits {
  readonly files: number;
  readonly inlineFileBytes: number;
}

export interface ThreadInfo {
  readonly id: string;
  readonly name?: string;
  readonly agentId?: string;
  readonly usedAt: number;
}

const defaultLimits: FileLimits = { files: 10, inlineFileBytes: 10 * 1024 * 1024 };

/** Asks which agents there are and how they can be reached. */
export async function readInfo(base: string): Promise<ServerInfo> {
  const info = await getJson(new URL("agui/info", base));
  const routes = Array.isArray(info.routes) ? info.routes.map(String) : [];
  const agents = Object.entries(isRecord(info.agents) ? info.agents : {}).map(toAgent);
  return {
    service: asText(info.service) ?? "",
    version: asText(info.version) ?? "",
    agents,
    defaultAgent: asText(info.defaultAgent) ?? agents[0]?.id ?? "default",
    routes,
    wires: toWires(routes),
  };
}

function toAgent([id, value]: [string, unknown]): AgentInfo {
  const { name, description, suggestions } = isRecord(value) ? value : {};
  return {
    id,
    name: asText(name) ?? id,
    ...(typeof description === "string" && { description }),
    suggestions: Array.isArray(suggestions)
      ? suggestions.filter((one) => typeof one === "string")
      : [],
  };
}

// Without a list of routes, only an AG-UI endpoint is assumed.
function toWires(routes: readonly string[]): Wire[] {
  const has = (end: string): boolean => routes.some((route) => route.endsWith(end));
  return [
    "agui-sse",
    "agui-proto",
    ...(has("/api/chat") ? ["vercel" as const] : []),
    ...(has("/agent/:name/chat/stream") ? ["rest" as const] : []),
  ];
}

/** The limits of attachments; the defaults where the server does not send them. */
export async function readLimits(base: string): Promise<FileLimits> {
  const response = await fetch(new URL("_holodeck/info", base));
  if (!response.ok) {
    await response.body?.cancel();
    return defaultLimits;
  }
  const info = (await response.json()) as { limits?: Partial<FileLimits> };
  const { files, inlineFileBytes } = info.limits ?? {};
  return {
    files: files ?? defaultLimits.files,
    inlineFileBytes: inlineFileBytes ?? defaultLimits.inlineFileBytes,
  };
}

/** The threads that the server lists, the latest first; nothing where it lists none. */
export async function fetchThreads(
  base: string,
  { routes }: Pick<ServerInfo, "routes">,
): Promise<readonly ThreadInfo[] | undefined> {
  if (!routes.some((route) => route.endsWith("GET /agui/threads"))) return undefined;
  const response = await fetch(new URL("agui/threads?limit=50", base));
  if (response.status === 403) {
    await response.body?.cancel();
    return undefined;
  }
  if (!response.ok) throw new Error(await problemText(response));
  const { threads } = (await response.json()) as { threads: readonly Json[] };
  return threads.map((one): ThreadInfo => ({
    id: String(one.id),
    ...(typeof one.name === "string" && { name: one.name }),
    ...(typeof one.agentId === "string" && { agentId: one.agentId }),
    usedAt: Date.parse(String(one.lastRunAt)) || 0,
  }));
}

/** Stops a run for all its followers. Resolves to true when it was running. */
export async function stopRun(
  base: string,
  { wire, runId, threadId }: { wire: Wire; runId: string | undefined; threadId: string },
): Promise<boolean> {
  const path =
    wire === "vercel"
      ? `api/chat/${encodeURIComponent(threadId)}/stop`
      : runId && `agui/runs/${encodeURIComponent(runId)}/stop`;
  if (!path) return false;
  const response = await fetch(new URL(path, base), { method: "POST" });
  if (!response.ok) throw new Error(await problemText(response));
  const { stopped } = (await response.json()) as { stopped?: boolean };
  return stopped === true;
}

async function getJson(url: URL): Promise<Json> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(await problemText(response));
  const body: unknown = await response.json();
  return isRecord(body) ? body : {};
}

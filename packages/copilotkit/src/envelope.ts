import { AgentError, deriveCall, isOpaqueId } from "@holodeck/agui-core";
import { describeValue } from "@holodeck/agui-core/internal";
import type { Call, Json, ProtocolHost, Reply } from "@holodeck/agui-core";
import { checkBody } from "./bodies.ts";
import { connect } from "./connect.ts";
import { startRun, suggest } from "./run.ts";
import { stop } from "./stop.ts";
import { requestThreads } from "./threads.ts";

type Method = (call: Call, host: ProtocolHost) => Promise<Reply> | Reply;

const methods: Readonly<Record<string, Method>> = {
  info: async (_call, host) => ({ status: 200, body: await (host.discover?.() ?? host.info()) }),
  "agent/run": startRun,
  "agent/connect": connect,
  "agent/suggest": suggest,
  "agent/stop": (call, host) => {
    const { threadId = "" } = call.params;
    if (isOpaqueId(threadId)) return stop(call, host);
    throw new AgentError("invalid-request", "params.threadId is missing; it names the thread.");
  },
  "resource/request": requestThreads,
  // Both belong to CopilotKit's own platform; its runtime answers the same without it.
  "inspector/metadata": () => ({ status: 204 }),
  "inspector/learning": () => ({ status: 204 }),
  transcribe: () => {
    throw new AgentError("not-found", "This server does not transcribe audio.");
  },
};

/** Whether a body is an envelope and no run input of AG-UI. */
export function claimsEnvelope(body: unknown): boolean {
  if (typeof body !== "object" || body === null || readMethod(body) === undefined) return false;
  return !["messages", "threadId", "thread_id"].some((key) => Object.hasOwn(body, key));
}

/** The method of an envelope, if it is one. */
export function readMethod(body: unknown): string | undefined {
  const { method } = (body ?? {}) as { method?: unknown };
  return typeof method === "string" ? method : undefined;
}

/** Whether a method answers with the stream of a run. */
export function isRunMethod(method: string | undefined): boolean {
  return method === "agent/run" || method === "agent/connect" || method === "agent/suggest";
}

/** Answers the single endpoint: calls the route named by the envelope, with its parameters and body. */
export async function openEnvelope(call: Call, host: ProtocolHost): Promise<Reply> {
  const { method, params = {}, body } = checkBody("envelope", call.body);
  const handle = Object.hasOwn(methods, method) ? methods[method] : undefined;
  if (!handle) {
    const known = Object.keys(methods).join(", ");
    throw new AgentError(
      "invalid-request",
      `Unknown method ${quote(method)}; expected one of: ${known}.`,
    );
  }
  return handle(deriveCall(call, { params: strings(params), body }), host);
}

function strings(params: Json): Record<string, string> {
  // Left out they mean the default agent; something else in their place means neither.
  for (const name of ["agentId", "threadId"]) {
    const { [name]: value } = params;
    if (value === undefined || value === null || typeof value === "string") continue;
    const message = `params.${name} must be a string, not ${describeValue(value)}.`;
    throw new AgentError("invalid-request", message);
  }
  const texts: Record<string, string> = {};
  let count = 0;
  for (const name in params) {
    if (++count > maxParams) {
      throw new AgentError("invalid-request", `params has more than ${maxParams} members.`);
    }
    const value = params[name];
    if (typeof value === "string") texts[name] = value;
  }
  return texts;
}

// No method has more than four.
const maxParams = 64;

function quote(text: string): string {
  return JSON.stringify(text.slice(0, 40));
}

import { AgentError } from "@holodeck/agui-core";
import type { Call, ProtocolHost, Reply } from "@holodeck/agui-core";
import { aguiSseEncoder, showThread } from "@holodeck/agui-protocol";
import { checkBody } from "./bodies.ts";

/** Shows a client its thread: what is past as snapshots, and what is running live. */
export async function connect(call: Call, host: ProtocolHost): Promise<Reply> {
  assertAgentExists(host, call.params.agentId);
  const { threadId, protocolVersion } = checkBody("connect", inCamelCase(call.body));
  return showThread(call, { host, threadId, encoder: aguiSseEncoder({ protocolVersion }) });
}

// Both spellings of the envelope are understood, as in the input of a run.
function inCamelCase(body: unknown): unknown {
  if (typeof body !== "object" || body === null || !("thread_id" in body)) return body;
  return { threadId: body.thread_id, ...body };
}

/** Throws `agent-not-found` for an agent that no run could name either. */
export function assertAgentExists(host: ProtocolHost, agentId = "default"): void {
  const { agents } = host.info();
  if (agentId === "default" || Object.hasOwn(agents as object, agentId)) return;
  throw new AgentError("agent-not-found", `Agent '${agentId}' is not loaded on this server`);
}

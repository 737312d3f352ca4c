import { AgentError, EventType } from "@holodeck/agui-core";
import { interruptOf } from "@holodeck/agui-core/internal";
import type { BaseEvent, Call, Encoder, ProtocolHost, Reply, Session } from "@holodeck/agui-core";
import { aguiSseEncoder } from "@holodeck/agui-protocol";
import { checkBody } from "./bodies.ts";

/** Shows a client its thread: what is past as snapshots, and what is running live. */
export async function connect(call: Call, host: ProtocolHost): Promise<Reply> {
  assertAgentExists(host, call.params.agentId);
  const { threadId, protocolVersion } = await checkBody("connect", inCamelCase(call.body));
  const encoder = aguiSseEncoder({ protocolVersion });
  const running = await host.attach(call, { threadId });
  if (running) return running.stream(encoder, "join");
  const session = await host.sessions.get({ principal: call.principal?.id ?? "", threadId });
  if (!session) return frames(encoder, []);
  host.note?.(call, { agentId: session.agentId, runId: session.lastRunId });
  // A run that began in between, or one whose process has died: its log knows how it ended.
  const { active, lastRunId } = session;
  const runId = active?.runId ?? lastRunId;
  const last = runId === undefined ? undefined : await host.attach(call, { runId });
  const isShown = last && (active || last.record.status === "lost");
  return isShown ? last.stream(encoder, "join") : frames(encoder, toHistory(session));
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

/** A thread as the stream of one run, which a client that knows nothing of it can apply. */
export function toHistory(session: Session): BaseEvent[] {
  const { threadId, lastRunId: runId = threadId, messages, state, pending } = session;
  const interrupts = pending.filter(({ kind }) => kind === "interrupt").map(interruptOf);
  return [
    { type: EventType.RUN_STARTED, threadId, runId },
    { type: EventType.MESSAGES_SNAPSHOT, messages },
    { type: EventType.STATE_SNAPSHOT, snapshot: state ?? {} },
    {
      type: EventType.RUN_FINISHED,
      threadId,
      runId,
      // A client that reconnects receives the agent's open question again.
      ...(interrupts.length > 0 ? { outcome: { type: "interrupt", interrupts } } : {}),
    },
  ];
}

// Not from a log, so nothing in it has an offset.
function frames(encoder: Encoder, events: readonly BaseEvent[]): Reply {
  const body = events.map((event) => encoder.encode({ from: 0, to: 0, at: 0, event })).join("");
  return {
    status: 200,
    headers: { "content-type": encoder.contentType, ...encoder.headers },
    body,
  };
}

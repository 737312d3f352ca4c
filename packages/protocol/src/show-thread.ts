import { EventType } from "@holodeck/agui-core";
import { interruptOf } from "@holodeck/agui-core/internal";
import type { BaseEvent, Call, Encoder, ProtocolHost, Reply, Session } from "@holodeck/agui-core";

/**
 * Shows a client its thread: what is past as snapshots, and what is running live. Without a thread the stream is empty.
 *
 * @example
 * ```ts
 * return showThread(call, { host, threadId, encoder: aguiSseEncoder() });
 * ```
 */
export async function showThread(
  call: Call,
  { host, threadId, encoder }: { host: ProtocolHost; threadId: string; encoder: Encoder },
): Promise<Reply> {
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
  return isShown ? last.stream(encoder, "join") : frames(encoder, threadEvents(session));
}

/** A thread as the stream of one run, which a client that knows nothing of it can apply. */
export function threadEvents(session: Session): BaseEvent[] {
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

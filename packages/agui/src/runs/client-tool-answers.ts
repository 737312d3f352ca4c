import { AgentError, isAgentError } from "@holodeck/agui-core";
import { foldRun } from "@holodeck/agui-core/internal";
import type { Lease, Pending, RunRecord, SessionStore, ThreadKey } from "@holodeck/agui-core";
import type { Questions, ToolResultCommand } from "@holodeck/agui-core/internal";

// With one owner and one client a conflict is rare; so many in a row mean that something is wrong.
const attempts = 50;

/**
 * The questions of a run, in `pending` of its session. The process that removes one may answer it: the
 * removal is checked by version, so exactly one of several answers wins, in any process. A run that has
 * lost its lease asks nothing.
 */
export function createQuestions(sessions: SessionStore, lease: Lease): Questions {
  const thread = { sessions, key: lease, lease };
  return {
    open: (question) =>
      changePending(thread, (pending) => [...pending, question]).then((isOpen) => {
        if (!isOpen) throw gone(question.id);
      }),
    close: (id) => take(thread, id),
  };
}

/** The thread of the questions, and the lease of the run that changes them, if there is one. */
interface Thread {
  readonly sessions: SessionStore;
  readonly key: ThreadKey;
  readonly lease?: Lease;
}

/**
 * Brings the result of a client tool to the run that waits for it. Throws `unknown-execution` when no
 * run has asked for it and `already-answered` when it has its result, or was given up.
 */
export async function answerQuestion(
  sessions: SessionStore,
  record: RunRecord | undefined,
  command: ToolResultCommand,
): Promise<true> {
  const { toolCallId } = command;
  if (!record) throw unknown(toolCallId);
  const thread = { sessions, key: record };
  const question = record.status === "running" && (await take(thread, toolCallId));
  if (!question) throw await explain(sessions, record, toolCallId);
  let isSent = false;
  try {
    isSent = await sessions.runs.send(record, command);
  } catch (error) {
    // The answer was not delivered: the client may try again.
    await changePending(thread, (pending) => [...pending, question]);
    throw error;
  }
  if (!isSent) throw unknown(toolCallId);
  return true;
}

async function take(thread: Thread, id: string): Promise<Pending | undefined> {
  let taken: Pending | undefined;
  const isTaken = await changePending(thread, (pending) => {
    taken = pending.find((one) => one.kind === "tool" && one.id === id);
    return taken && pending.filter((one) => one !== taken);
  });
  return isTaken ? taken : undefined;
}

/** Resolves to false when there is no session, or nothing to change in it. */
async function changePending(
  { sessions, key, lease }: Thread,
  change: (pending: readonly Pending[]) => readonly Pending[] | undefined,
): Promise<boolean> {
  for (let attempt = 0; ; attempt++) {
    const session = await sessions.get(key);
    const pending = session && change(session.pending);
    if (!session || !pending) return false;
    try {
      const condition = { ifVersion: session.version, ...(lease ? { lease } : {}) };
      await sessions.update(key, { pending }, condition);
      return true;
    } catch (error) {
      if (!isAgentError(error)) throw error;
      if (error.code === "session-not-found") return false;
      if (error.code !== "thread-busy" || attempt >= attempts) throw error;
    }
  }
}

// The question was closed or never asked: the thread has every call it made.
async function explain(
  sessions: SessionStore,
  record: RunRecord,
  toolCallId: string,
): Promise<AgentError> {
  const session = await sessions.get(record);
  if (!session) return unknown(toolCallId);
  const { view } = await foldRun(sessions.runs, record, session);
  const isKnown = view.messages.some((message) =>
    message.role === "assistant"
      ? message.toolCalls?.some(({ id }) => id === toolCallId)
      : message.role === "tool" && message.toolCallId === toolCallId,
  );
  if (!isKnown) return unknown(toolCallId);
  return new AgentError(
    "already-answered",
    `Execution "${toolCallId}" was already answered or has ended.`,
  );
}

function unknown(toolCallId: string): AgentError {
  return new AgentError(
    "unknown-execution",
    `No execution "${toolCallId}" is waiting for a result.`,
  );
}

function gone(id: string): AgentError {
  return new AgentError("run-lost", `The thread of execution "${id}" was deleted.`);
}

import type { Interrupt, RunAgentInput } from "@ag-ui/core";
import { interruptOf } from "./pending.ts";
import { AgentError } from "../contract/errors.ts";
import type { RunContext } from "../contract/context.ts";
import type { Pending } from "../contract/session-store.ts";
import type { AskedCall, InterruptAnswer, ServerTool } from "../contract/tools.ts";

/** A person's answer to a call, and the call as it was asked about. */
export interface Verdict {
  readonly id: string;
  readonly args: unknown;
  readonly isApproved: boolean;
  readonly reason?: string | undefined;
}

/**
 * Whether a call may be made: a person has allowed it, or its tool does not ask. Throws `approval-denied` when
 * a person has refused it.
 */
export async function isAllowed(
  { name, needsApproval = false }: ServerTool,
  verdict: Verdict | undefined,
  { args, context }: { readonly args: unknown; readonly context: RunContext },
): Promise<boolean> {
  if (verdict?.isApproved) return true;
  if (verdict) {
    const why = verdict.reason === undefined ? "." : `: ${verdict.reason}`;
    throw new AgentError("approval-denied", `The user did not allow "${name}"${why}`);
  }
  const isNeeded =
    typeof needsApproval === "function" ? await needsApproval(args, context) : needsApproval;
  return !isNeeded;
}

/** The question whether a call may be made. */
export function toApprovalRequest(toolCallId: string, name: string): Omit<Interrupt, "id"> {
  return {
    reason: "tool_call",
    message: `Allow "${name}"?`,
    toolCallId,
    responseSchema: {
      type: "object",
      properties: { approved: { type: "boolean" }, reason: { type: "string" } },
      required: ["approved"],
    },
  };
}

const noAnswers: readonly InterruptAnswer[] = Object.freeze([]);

/** The interrupts that `resume` answers. What is not pending is left out. */
export function toAnswers(
  pending: readonly Pending[],
  resume?: RunAgentInput["resume"],
): readonly InterruptAnswer[] {
  if (!resume || resume.length === 0) return noAnswers;
  return resume.flatMap(({ interruptId, status, payload }): InterruptAnswer[] => {
    const asked = pending.find(({ id, kind }) => kind === "interrupt" && id === interruptId);
    if (!asked) return [];
    const { call } = asked.value as { call?: AskedCall };
    return [
      {
        interrupt: interruptOf(asked),
        status,
        ...(payload === undefined ? {} : { payload }),
        ...(call === undefined ? {} : { call }),
      },
    ];
  });
}

/** What a person's answer means for the call that they were asked about. */
export function toVerdict(call: AskedCall, answer: InterruptAnswer): Verdict {
  return { id: call.id, args: call.args, ...judge(answer) };
}

/** Whether a person has allowed the call that they were asked about. */
export function isApproved(answer: InterruptAnswer): boolean {
  return judge(answer).isApproved;
}

// Only a clear yes is one.
function judge({ status, payload }: InterruptAnswer): Pick<Verdict, "isApproved" | "reason"> {
  const { approved, reason } = (toValue(payload) ?? {}) as { approved?: unknown; reason?: unknown };
  return {
    isApproved: status === "resolved" && approved === true,
    reason: typeof reason === "string" && reason !== "" ? reason.slice(0, 500) : undefined,
  };
}

// CopilotKit's `useLangGraphInterrupt` answers with a text, so its users send JSON.
function toValue(payload: unknown): unknown {
  if (typeof payload !== "string") return payload;
  try {
    return JSON.parse(payload) as unknown;
  } catch {
    return undefined;
  }
}

type Asked = Pick<Interrupt, "message" | "responseSchema" | "metadata">;

/**
 * Thrown by a tool that needs an answer of the user before it can finish. The run ends with the question, and
 * the tool is called again when the next run has the answer in `session.answers`; when the user declines, it is
 * not. A call can ask once.
 */
export class ToolQuestion extends Error {
  override readonly name = "ToolQuestion";
  readonly asked: Asked;

  constructor(asked: Asked) {
    super(asked.message);
    this.asked = asked;
  }
}

/** What a tool asks, also one with another copy of this package; undefined for any other error. */
export function questionOf(cause: unknown): Asked | undefined {
  const isQuestion = cause instanceof Error && cause.name === "ToolQuestion" && "asked" in cause;
  return isQuestion ? (cause as ToolQuestion).asked : undefined;
}

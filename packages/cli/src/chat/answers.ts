import type { Interrupt, ResumeEntry } from "@ag-ui/core";
import type { Conversation } from "./conversation.ts";
import type { LineReader } from "./line-reader.ts";
import type { Printer } from "./printer.ts";
// Each part by itself: an unfinished sequence at its end must not swallow what we add.
import { toSafeLine, toSafeText } from "./safe-text.ts";

export interface Asking {
  readonly printer: Printer;
  readonly lines: () => LineReader;
  readonly signal: AbortSignal;
}

/** Asks the user about every interrupt; undefined when the input has ended. */
export async function askInterrupts(
  interrupts: readonly Interrupt[],
  asking: Asking,
): Promise<ResumeEntry[] | undefined> {
  const resume: ResumeEntry[] = [];
  for (const interrupt of interrupts) {
    const entry = isYesOrNo(interrupt)
      ? await askYesOrNo(interrupt, asking)
      : await askFreely(interrupt, asking);
    if (!entry) return undefined;
    resume.push(entry);
  }
  return resume;
}

/** Asks the user to act as the client's tools; false when the input has ended. */
export async function askCalls(conversation: Conversation, asking: Asking): Promise<boolean> {
  for (const { id, name } of conversation.questions().calls) {
    for (;;) {
      const line = await ask(`result of ${toSafeLine(name)} as JSON? `, asking);
      if (line === undefined) return false;
      if (isJson(line)) {
        conversation.answer(id, line);
        break;
      }
      asking.printer.line('That is not JSON. Text is written in quotes, as "done".');
    }
  }
  return true;
}

// A question that a yes answers: an approval, or one without a form for the answer.
function isYesOrNo({ reason, responseSchema }: Interrupt): boolean {
  const { properties } = (responseSchema ?? {}) as { properties?: object };
  if (properties) return "approved" in properties;
  return reason === "tool_call" || reason === "confirmation";
}

async function askYesOrNo(interrupt: Interrupt, asking: Asking): Promise<ResumeEntry | undefined> {
  const { id: interruptId, message = interrupt.reason } = interrupt;
  for (;;) {
    const line = await ask(`${toSafeText(message)} [y/n] `, asking);
    if (line === undefined) return undefined;
    const [, yes, no] = /^\s*(?:(y|yes)|(n|no))\s*$/i.exec(line) ?? [];
    if (yes === undefined && no === undefined) continue;
    return { interruptId, status: "resolved", payload: { approved: yes !== undefined } };
  }
}

async function askFreely(interrupt: Interrupt, asking: Asking): Promise<ResumeEntry | undefined> {
  const { id: interruptId, message = interrupt.reason } = interrupt;
  const line = await ask(`${toSafeText(message)} (JSON or text; an empty line cancels) `, asking);
  if (line === undefined) return undefined;
  if (line.trim() === "") return { interruptId, status: "cancelled" };
  const payload: unknown = isJson(line) ? JSON.parse(line) : line;
  // null means no payload.
  return { interruptId, status: "resolved", ...(payload === null ? {} : { payload }) };
}

function ask(question: string, { printer, lines, signal }: Asking): Promise<string | undefined> {
  printer.beforePrompt();
  return lines().ask(question, signal);
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    // The answer to the question.
    return false;
  }
}

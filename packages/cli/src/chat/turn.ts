import { EventType } from "@ag-ui/core";
import type { BaseEvent } from "@ag-ui/core";
import { askCalls, askInterrupts } from "./answers.ts";
import type { Conversation, TurnInput } from "./conversation.ts";
import { DroppedError } from "./dropped-error.ts";
import type { LineReader } from "./line-reader.ts";
import type { Printer } from "./printer.ts";
import { RefusedError } from "./refusal.ts";
import { requestRun, requestStop } from "./run-client.ts";
import type { ChatTarget } from "./run-client.ts";

export interface TurnContext {
  readonly target: ChatTarget;
  readonly printer: Printer;
  readonly lines: () => LineReader;
  /** Sees every event as it is shown; for --json. */
  readonly onEvent?: (event: BaseEvent) => void;
}

/** How a turn ended. */
export type TurnEnd = "done" | "failed" | "stopped" | "unanswered";

/** Sends a message and follows the agent until it has no more questions. */
export async function takeTurn(
  chat: TurnContext,
  conversation: Conversation,
  { text, signal }: { text: string; signal: AbortSignal },
): Promise<TurnEnd> {
  let turnInput: TurnInput = { text };
  for (;;) {
    const end = await follow(chat, conversation, { turnInput, signal });
    if (end !== "done") return end;
    const { interrupts, calls } = conversation.questions();
    if (interrupts.length === 0 && calls.length === 0) return "done";
    const asking = { printer: chat.printer, lines: chat.lines, signal };
    if (interrupts.length > 0) {
      const resume = await askInterrupts(interrupts, asking);
      if (!resume) return signal.aborted ? "stopped" : "unanswered";
      turnInput = { resume };
    } else {
      if (!(await askCalls(conversation, asking))) {
        return signal.aborted ? "stopped" : "unanswered";
      }
      turnInput = {};
    }
  }
}

async function follow(
  { target, printer, onEvent }: TurnContext,
  conversation: Conversation,
  { turnInput, signal }: { turnInput: TurnInput; signal: AbortSignal },
): Promise<TurnEnd> {
  let end: TurnEnd = "done";
  let isShown = true;
  const fold = conversation.begin(turnInput, (event) => {
    if (event.type === EventType.RUN_ERROR) end = "failed";
    if (!isShown) return;
    onEvent?.(event);
    printer.show(event);
  });
  const onDrop = (): void => printer.line("The connection was lost; resuming.");
  try {
    for await (const event of requestRun(target, fold.input, { signal, onDrop })) fold.push(event);
    return end;
  } catch (error) {
    // The output so far stays in the history; how it ended is reported below.
    isShown = false;
    fold.cancel();
    if (signal.aborted) {
      await requestStop(target, fold.input.runId);
      printer.line("Stopped.");
      return "stopped";
    }
    printer.error(describe(error, target));
    return "failed";
  }
}

function describe(error: unknown, { url }: ChatTarget): string {
  if (error instanceof RefusedError || error instanceof DroppedError) return error.message;
  const { message, cause } = error as Error & { cause?: { message?: string; code?: string } };
  const reason = cause?.message || cause?.code || message;
  return `No server responded at ${url.href}: ${reason}`;
}

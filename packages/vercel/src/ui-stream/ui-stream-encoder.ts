import { EventType } from "@holodeck/agui-core";
import { needsEscape, entryOfDelta } from "@holodeck/agui-core/internal";
import type { BaseEvent, Encoder, LogEntry, Message } from "@holodeck/agui-core";
import { vercelHeaders } from "../shared/headers.ts";
import type { StreamFailure } from "../shared/run-failure.ts";
import { deltaHead } from "./ui-parts.ts";
import { UiChunks } from "./ui-chunks.ts";

/** Whom the stream is for, and what it continues. */
export interface UiStreamEncoderOptions {
  /**
   * The AI SDK that reads it. Tool approvals and `finishReason` need 6.
   * @default 5
   */
  sdkVersion?: 5 | 6 | 7;
  /** Id of the assistant message that this run continues. */
  continues?: string | undefined;
  /** Ids of the messages and tool calls which that message holds already. */
  known?: ReadonlySet<string> | undefined;
  /** Ids of the calls in it that the user has said no to; AI SDK 6 shows them as denied. */
  denied?: ReadonlySet<string> | undefined;
  /** The same in full, for a client that comes back to the run and builds the message anew. */
  preface?: readonly Message[] | undefined;
  /** What the client is told of a failure. By default "An error occurred.", whatever it was. */
  describeFailure?: (failure: StreamFailure) => string;
  /** Adds `Connection` and `Content-Encoding`, as servers of old sent them. */
  legacyHeaders?: boolean;
  /**
   * How deep the body of the client's next request may be: what tools take and return is sent as text when it
   * is deeper.
   * @default 64
   */
  jsonDepth?: number | undefined;
}

/**
 * The UI message stream of AI SDK 5 to 7. By default it says only what 5.0.0 can read.
 *
 * @example
 * ```ts
 * return run.stream(uiStreamEncoder({ sdkVersion: 6 }), "start");
 * ```
 */
export function uiStreamEncoder(options: UiStreamEncoderOptions = {}): Encoder {
  const teller = new UiChunks(options);
  // Nearly every delta follows one of the same text, whose part is then open in the client. All but the
  // delta is the same again, and most deltas need no escaping: half of what `JSON.stringify` took.
  let lastId: string | undefined;
  let prefix = "";

  function isNext({ type, messageId }: BaseEvent): boolean {
    return type === EventType.TEXT_MESSAGE_CONTENT && lastId !== undefined && messageId === lastId;
  }

  function frame(delta: string, isPlain: boolean): string {
    return `${prefix}${isPlain ? delta : JSON.stringify(delta).slice(1, -1)}"}\n\n`;
  }

  function encode({ event, from }: LogEntry): string {
    const { type, messageId, delta } = event;
    if (typeof delta === "string" && delta !== "" && isNext(event)) {
      return frame(delta, !needsEscape.test(delta));
    }
    const frames = teller.tell(event, from);
    const isShown = type === EventType.TEXT_MESSAGE_CONTENT && frames !== "";
    lastId = isShown && typeof messageId === "string" ? messageId : undefined;
    if (lastId !== undefined) prefix = `data: ${deltaHead("text", lastId)}"`;
    return frames;
  }

  function encodeDeltas(line: LogEntry, deltas: readonly string[]): string {
    const { event } = line;
    // One look at all of them says that none needs escaping.
    const isPlain = !needsEscape.test(event.delta as string);
    let frames = "";
    for (let index = 0; index < deltas.length; index++) {
      const delta = deltas[index]!;
      if (delta !== "" && isNext(event)) frames += frame(delta, isPlain);
      else frames += encode(entryOfDelta(line, index, delta));
    }
    return frames;
  }

  return {
    contentType: "text/event-stream",
    headers: vercelHeaders("x-vercel-ai-ui-message-stream", options.legacyHeaders),
    encode,
    encodeDeltas,
    keepAlive,
    close,
  };
}

function keepAlive(): string {
  return ": keep-alive\n\n";
}

function close(): string {
  return "data: [DONE]\n\n";
}

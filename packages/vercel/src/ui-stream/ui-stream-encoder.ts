import { createDeltaFrames, EventType } from "@holodeck/agui-core";
import type { DeltaFrame, Encoder, LogEntry, Message } from "@holodeck/agui-core";
import { vercelHeaders } from "../shared/headers.ts";
import type { StreamFailure } from "../shared/run-failure.ts";
import { deltaHead } from "./ui-parts.ts";
import { UiChunks } from "./ui-chunks.ts";

/** Whom the stream is for, and what it continues. */
export interface UiStreamEncoderOptions {
  /**
   * The AI SDK that reads it: from 6 on there is `finishReason`, and with 5 no tool approvals. By default it is what
   * 5.0.0 can read, and tool approvals in runs that ask for one.
   */
  sdkVersion?: 5 | 6 | 7 | undefined;
  /** Id of the assistant message that this run continues. */
  continues?: string | undefined;
  /** Ids of the messages and tool calls which that message holds already. */
  known?: ReadonlySet<string> | undefined;
  /** Ids of the calls in it that the user has declined; AI SDK 6 shows them as denied. */
  denied?: ReadonlySet<string> | undefined;
  /** The same in full, for a client that comes back to the run and builds the message again. */
  preface?: readonly Message[] | undefined;
  /** The error text that the client receives. By default "An error occurred.", whatever it was. */
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
 * The UI message stream of AI SDK 5 to 7. By default it sends only what 5.0.0 can read, and tool approvals. The last
 * frame of each entry has its offset as `id`.
 *
 * @example
 * ```ts
 * return run.stream(uiStreamEncoder({ sdkVersion: 6 }), "start");
 * ```
 */
export function uiStreamEncoder(options: UiStreamEncoderOptions = {}): Encoder {
  const chunks = new UiChunks(options);
  /** The message whose part is open in the client. */
  let shownId: unknown;

  function encode({ event, from, to }: LogEntry): string {
    const frames = withId(chunks.encode(event, from), to);
    const isShown = event.type === EventType.TEXT_MESSAGE_CONTENT && frames !== "";
    shownId = isShown ? event.messageId : undefined;
    return frames;
  }

  function frame({ event: { type, messageId } }: LogEntry): DeltaFrame | undefined {
    if (type !== EventType.TEXT_MESSAGE_CONTENT || messageId !== shownId) return undefined;
    return { head: `\ndata: ${deltaHead("text", messageId as string)}"`, tail: '"}\n\n' };
  }

  const frames = createDeltaFrames({
    frame,
    encode,
    textOnly: true,
    skipEmpty: true,
    numbered: true,
  });
  return {
    contentType: "text/event-stream",
    headers: vercelHeaders("x-vercel-ai-ui-message-stream", options.legacyHeaders),
    encode: frames.encode,
    encodeDeltas: frames.encodeDeltas,
    keepAlive,
    close,
  };
}

// A client that has the id has all frames of the entry. What was never logged has none.
function withId(frames: string, offset: number): string {
  if (frames === "" || offset <= 0) return frames;
  const last = frames.lastIndexOf("\ndata: ") + 1;
  return `${frames.slice(0, last)}id: ${offset}\n${frames.slice(last)}`;
}

function keepAlive(): string {
  return ": keep-alive\n\n";
}

function close(): string {
  return "data: [DONE]\n\n";
}

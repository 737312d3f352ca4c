import { createDeltaFrames, EventType } from "@holodeck/agui-core";
import { assertOptions, describeValue } from "@holodeck/agui-core/internal";
import type { DeltaFrame, Encoder, LogEntry } from "@holodeck/agui-core";
import { DataStreamLines } from "./data-stream-lines.ts";
import { vercelHeaders } from "../shared/headers.ts";
import type { StreamFailure } from "../shared/run-failure.ts";

/** Whom the lines are for, and what they continue. */
export interface DataStreamEncoderOptions {
  /** For the parser of AI SDK 3.4: without `f` to `k`, which it fails on. By default for that of 4. */
  mode?: "3.4" | undefined;
  /** Id of the assistant message that this run continues. */
  continues?: string | undefined;
  /** Ids of the messages and tool calls which that message holds already. */
  known?: ReadonlySet<string> | undefined;
  /** The error text that the client receives. By default "An error occurred.", whatever it was. */
  describeFailure?: ((failure: StreamFailure) => string) | undefined;
  /** Sends the failure's own message to the client. */
  debug?: boolean | undefined;
  /** Adds `Connection` and `Content-Encoding`, as servers of old sent them. */
  legacyHeaders?: boolean | undefined;
  /**
   * How deep the body of the client's next request may be: what tools take and return is sent as text when it
   * is deeper.
   * @default 64
   */
  jsonDepth?: number | undefined;
}

const optionNames = [
  "mode",
  "continues",
  "known",
  "describeFailure",
  "debug",
  "legacyHeaders",
  "jsonDepth",
];

/**
 * Data stream v1, for `useChat` and `useCompletion` of AI SDK 3.4 and 4: a part a line, exactly one
 * `d:` and it is the last.
 *
 * @example
 * ```ts
 * return run.stream(dataStreamEncoder({ continues: chat.continues }), "start");
 * ```
 */
export function dataStreamEncoder(options: DataStreamEncoderOptions = {}): Encoder {
  assertOptions("dataStreamEncoder", options, optionNames);
  const { mode, legacyHeaders } = options;
  if (mode !== undefined && mode !== "3.4") {
    throw new TypeError(`dataStreamEncoder({ mode: ${describeValue(mode)} }) must be "3.4".`);
  }
  const lines = new DataStreamLines(options);

  function frame({ event: { type, messageId } }: LogEntry): DeltaFrame | undefined {
    const isNext = type === EventType.TEXT_MESSAGE_CONTENT && lines.isAt(messageId as string);
    return isNext ? textLine : undefined;
  }

  const frames = createDeltaFrames({
    frame,
    encode: ({ event }) => lines.encode(event),
    textOnly: true,
    skipEmpty: true,
  });
  return {
    contentType: "text/plain; charset=utf-8",
    headers: vercelHeaders("x-vercel-ai-data-stream", legacyHeaders),
    // At once, also before the agent sends anything.
    open: () => lines.blank(),
    encode: frames.encode,
    encodeDeltas: frames.encodeDeltas,
    keepAlive,
    close: () => lines.close(),
  };
}

const textLine: DeltaFrame = { head: '0:"', tail: '"\n' };

// Readers skip an empty line; a comment, as in server-sent events, would end them.
function keepAlive(): string {
  return "\n";
}

import { EventType } from "@holodeck/agui-core";
import {
  assertOptions,
  describeValue,
  needsEscape,
  entryOfDelta,
} from "@holodeck/agui-core/internal";
import type { BaseEvent, Encoder, LogEntry } from "@holodeck/agui-core";
import { convertText } from "./convert.ts";
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
  /** What the client is told of a failure. By default "An error occurred.", whatever it was. */
  describeFailure?: ((failure: StreamFailure) => string) | undefined;
  /** Tell the client the failure's own message. */
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
  const teller = new DataStreamLines(options);
  // Nearly every delta follows one of the same text. It is one line, at a third of what it took to find out.
  let lastId: string | undefined;

  function isNext({ type, messageId }: BaseEvent): boolean {
    return type === EventType.TEXT_MESSAGE_CONTENT && lastId !== undefined && messageId === lastId;
  }

  function encode({ event }: LogEntry): string {
    const { type, messageId, delta } = event;
    if (typeof delta === "string" && delta !== "" && isNext(event)) return convertText(delta);
    const lines = teller.tell(event);
    const isText = type === EventType.TEXT_MESSAGE_CONTENT && typeof messageId === "string";
    lastId = isText && teller.isAt(messageId) ? messageId : undefined;
    return lines;
  }

  function encodeDeltas(line: LogEntry, deltas: readonly string[]): string {
    const { event } = line;
    // One look at all of them says that none needs escaping.
    const isPlain = !needsEscape.test(event.delta as string);
    let lines = "";
    for (let index = 0; index < deltas.length; index++) {
      const delta = deltas[index]!;
      if (delta === "" || !isNext(event)) lines += encode(entryOfDelta(line, index, delta));
      else lines += isPlain ? `0:"${delta}"\n` : convertText(delta);
    }
    return lines;
  }

  return {
    contentType: "text/plain; charset=utf-8",
    headers: vercelHeaders("x-vercel-ai-data-stream", legacyHeaders),
    // At once, also while the agent has not said anything.
    open: () => teller.blank(),
    encode,
    encodeDeltas,
    keepAlive,
    close: () => teller.close(),
  };
}

// Readers skip an empty line; a comment, as in server-sent events, would end them.
function keepAlive(): string {
  return "\n";
}

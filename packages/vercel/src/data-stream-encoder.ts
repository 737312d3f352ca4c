import { assertOptions, describeValue, EventType } from "@holodeck/agui-core";
import type { Encoder } from "@holodeck/agui-core";
import { convertText } from "./convert.ts";
import { DataStreamTeller } from "./data-stream-teller.ts";
import { vercelHeaders } from "./headers.ts";
import type { RunFailure } from "./run-failure.ts";

/** Whom the lines are for, and what they continue. */
export interface DataStreamEncoderOptions {
  /** For the parser of AI SDK 3.4: without `f` to `k`, which it fails on. By default for that of 4. */
  mode?: "3.4" | undefined;
  /** Id of the assistant message that this run continues. */
  continues?: string | undefined;
  /** Ids of the messages and tool calls which that message holds already. */
  known?: ReadonlySet<string> | undefined;
  /** What the client is told of a failure. By default "An error occurred.", whatever it was. */
  describeFailure?: ((failure: RunFailure) => string) | undefined;
  /** Tell the client the failure's own message. */
  debug?: boolean | undefined;
  /** Adds `Connection` and `Content-Encoding`, as servers of old sent them. */
  legacyHeaders?: boolean | undefined;
}

const optionNames = ["mode", "continues", "known", "describeFailure", "debug", "legacyHeaders"];

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
  const teller = new DataStreamTeller(options);
  // Nearly every delta follows one of the same text. It is one line, at a third of what it took to find out.
  let lastId: string | undefined;

  return {
    contentType: "text/plain; charset=utf-8",
    headers: vercelHeaders("x-vercel-ai-data-stream", legacyHeaders),
    // At once, also while the agent has not said anything.
    open: () => teller.blank(),
    encode({ event }) {
      if (event.type !== EventType.TEXT_MESSAGE_CONTENT) {
        lastId = undefined;
        return teller.tell(event);
      }
      const { messageId, delta } = event;
      if (lastId !== undefined && messageId === lastId && typeof delta === "string" && delta) {
        return convertText(delta);
      }
      const lines = teller.tell(event);
      lastId = typeof messageId === "string" && teller.isAt(messageId) ? messageId : undefined;
      return lines;
    },
    keepAlive,
    close: () => teller.close(),
  };
}

// Readers skip an empty line; a comment, as in server-sent events, would end them.
function keepAlive(): string {
  return "\n";
}

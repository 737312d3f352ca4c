import { describeValue } from "@holodeck/agui-core/internal";
import type { Encoder, Logger, Message } from "@holodeck/agui-core";
import { dataStreamEncoder } from "./data-stream/data-stream-encoder.ts";
import { textStreamEncoder } from "./shared/text-stream-encoder.ts";
import { heldIds } from "./decode/thread.ts";
import { maskedFailure } from "./shared/run-failure.ts";
import { uiStreamEncoder } from "./ui-stream/ui-stream-encoder.ts";
import type { StreamFailure } from "./shared/run-failure.ts";

/** One of the three streams: UI message stream, data stream v1, text stream. */
export type StreamFormat = "ui" | "data" | "text";

/** What is the same for every stream that a server sends. */
export interface StreamOptions {
  /** How to answer. */
  protocol?: StreamFormat;
  /** The data stream for the parser of AI SDK 3.4, which knows fewer parts. */
  mode?: "3.4";
  /**
   * The oldest AI SDK among the clients. From 6 on there is `finishReason`; with 5 there are no tool approvals.
   */
  sdkVersion?: 5 | 6 | 7;
  /** Sends `Connection` and `Content-Encoding`, as servers of old did; for HTTP/1 only. */
  legacyHeaders?: boolean;
  /**
   * The text that the client receives for a failed run. By default "An error occurred."; with `debug` the
   * real message.
   */
  onError?: (failure: StreamFailure) => string;
}

export const streamOptionNames: readonly string[] = [
  "protocol",
  "mode",
  "sdkVersion",
  "legacyHeaders",
  "onError",
];

/** Throws for a value that is none of the known ones. */
export function assertStreamOptions(call: string, options: StreamOptions): void {
  assertOneOf(`${call}({ protocol`, options.protocol, ["ui", "data", "text"]);
  assertOneOf(`${call}({ mode`, options.mode, ["3.4"]);
  assertOneOf(`${call}({ sdkVersion`, options.sdkVersion, [5, 6, 7]);
  const { onError } = options;
  if (onError === undefined || typeof onError === "function") return;
  throw new TypeError(`${call}({ onError }) must be a function, not ${describeValue(onError)}.`);
}

function assertOneOf(name: string, value: unknown, known: readonly unknown[]): void {
  if (value === undefined || known.includes(value)) return;
  const list = known.map((one) => JSON.stringify(one)).join(", ");
  throw new TypeError(`${name}: ${describeValue(value)} }) must be one of ${list}.`);
}

/**
 * The result of `onError`; the default text when it returns nothing or throws: clients need a text.
 */
export function wordsOf(
  onError: NonNullable<StreamOptions["onError"]>,
  failure: StreamFailure,
  logger: Logger,
): string {
  try {
    const words: unknown = onError(failure);
    return typeof words === "string" && words !== "" ? words : maskedFailure;
  } catch (error) {
    logger.error({ error }, "onError failed.");
    return maskedFailure;
  }
}

/** A stream, and the message that it continues if it does. */
export interface StreamChoice {
  readonly wire: StreamFormat;
  readonly mode?: StreamOptions["mode"];
  readonly sdkVersion?: StreamOptions["sdkVersion"] | undefined;
  readonly legacyHeaders?: boolean | undefined;
  readonly continues?: string | undefined;
  /** Ids of what the client's message holds already. */
  readonly known?: ReadonlySet<string> | undefined;
  /** Ids of the calls in it that the user has denied. */
  readonly denied?: ReadonlySet<string> | undefined;
  /** Its earlier content, for a client that rebuilds it. */
  readonly preface?: readonly Message[] | undefined;
  readonly describeFailure: (failure: StreamFailure) => string;
  /** How deep the body of the client's next request may be. */
  readonly jsonDepth?: number | undefined;
}

/** The encoder of a stream. */
export function createStreamEncoder(choice: StreamChoice): Encoder {
  const { wire, mode, sdkVersion, continues, denied, preface, describeFailure } = choice;
  const { jsonDepth } = choice;
  const { legacyHeaders = false, known = preface && heldIds(preface) } = choice;
  if (wire === "text") return textStreamEncoder();
  if (wire === "data") {
    return dataStreamEncoder({ mode, continues, known, describeFailure, legacyHeaders, jsonDepth });
  }
  return uiStreamEncoder(
    preface
      ? { sdkVersion, continues, preface, describeFailure, legacyHeaders, jsonDepth }
      : { sdkVersion, continues, known, denied, describeFailure, legacyHeaders, jsonDepth },
  );
}

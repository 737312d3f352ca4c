import { AgentError, EventType, isAgentError } from "@holodeck/agui-core";
import { assertOptions, describeValue } from "@holodeck/agui-core/internal";
import type { BaseEvent, Middleware } from "@holodeck/agui-core";
import { redactEvent } from "./redact-event.ts";
import { redactJsonText } from "./redact-json.ts";
import { secretOpenings, secretShapes, urlCredentials } from "./redact-secrets.ts";
import { createTextStream, redactText, toGlobal } from "./redact-text.ts";
import type { TextRules, TextStream } from "./redact-text.ts";

export interface RedactOptions {
  /** What is taken out. By default what looks like a credential: keys, tokens, private keys. */
  patterns?: readonly RegExp[];
  /** The replacement, or a function that returns one for a match. By default `[redacted]`. */
  replacement?: string | ((match: string) => string);
  /**
   * How many characters of a text are held back, so that a match is found that comes in pieces: as many as
   * the longest of your patterns needs before it matches. By default 64. The default patterns need no more:
   * where one may have begun, as much is held back as it can need.
   */
  window?: number;
}

/**
 * Removes matches from everything a client receives: text and reasoning, also when a match is split
 * over deltas, arguments and results of tools, state, snapshots and errors.
 *
 * @example
 * ```ts
 * createAgentHandler(agent, { middleware: [redact({ patterns: [/\b\d{3}-\d{2}-\d{4}\b/] })] });
 * ```
 */
export function redact(options: RedactOptions = {}): Middleware {
  assertOptions("redact", options, ["patterns", "replacement", "window"]);
  const { patterns = [secretShapes, urlCredentials], window = 64 } = options;
  const opening = options.patterns === undefined ? secretOpenings : undefined;
  const { replacement = "[redacted]" } = options;
  if (!Array.isArray(patterns) || !patterns.every((one) => one instanceof RegExp)) {
    throw new TypeError(
      `redact's patterns must be a list, like [/\\d{16}/], not ${describeValue(patterns)}.`,
    );
  }
  if (typeof replacement !== "string" && typeof replacement !== "function") {
    throw new TypeError(
      `redact's replacement must be a string or a function, not ${describeValue(replacement)}.`,
    );
  }
  if (!Number.isInteger(window) || window < 0) {
    throw new TypeError(
      `redact's window must be a number of characters, not ${describeValue(window)}.`,
    );
  }

  return (input, context, next) => ({
    subscribe(observer) {
      // Patterns remember where they are, so each run has its own.
      const rules: TextRules = {
        patterns: patterns.map(toGlobal),
        replacement,
        opening: opening && toGlobal(opening),
      };
      const redactor = createRedactor(rules, { window, emit: (event) => observer.next(event) });
      return next(input, context).subscribe({
        next(event) {
          try {
            redactor.push(event);
          } catch (error) {
            observer.error(error);
          }
        },
        error(reason) {
          redactor.end();
          observer.error(redactError(reason, rules));
        },
        complete() {
          redactor.end();
          observer.complete();
        },
      });
    },
  });
}

interface Redactor {
  push(event: BaseEvent): void;
  /** Sends the text that is held back. */
  end(): void;
}

interface Held {
  /** The last delta, which identifies the part that the held text belongs to. */
  event: BaseEvent;
  readonly stream: TextStream;
}

const idOf: Readonly<Record<string, string>> = {
  [EventType.TEXT_MESSAGE_CONTENT]: "messageId",
  [EventType.TEXT_MESSAGE_END]: "messageId",
  [EventType.REASONING_MESSAGE_CONTENT]: "messageId",
  [EventType.REASONING_MESSAGE_END]: "messageId",
  [EventType.TOOL_CALL_ARGS]: "toolCallId",
  [EventType.TOOL_CALL_END]: "toolCallId",
};

const contents: ReadonlySet<string> = new Set([
  EventType.TEXT_MESSAGE_CONTENT,
  EventType.REASONING_MESSAGE_CONTENT,
  EventType.TOOL_CALL_ARGS,
]);

const chunks: ReadonlySet<string> = new Set([
  EventType.TEXT_MESSAGE_CHUNK,
  EventType.REASONING_MESSAGE_CHUNK,
  EventType.TOOL_CALL_CHUNK,
]);

const terminals: ReadonlySet<string> = new Set([EventType.RUN_FINISHED, EventType.RUN_ERROR]);

function createRedactor(
  rules: TextRules,
  { window, emit }: { window: number; emit: (event: BaseEvent) => void },
): Redactor {
  const held = new Map<string, Held>();
  let chunkKey: string | undefined;

  function send(event: BaseEvent, delta: string): void {
    if (delta !== "") emit({ ...event, delta });
  }

  function pushDelta(key: string, event: BaseEvent): void {
    let part = held.get(key);
    if (!part) {
      const isJson = key.startsWith("TOOL_CALL");
      const stream = isJson ? createJsonStream(rules, window) : createTextStream(rules, window);
      held.set(key, (part = { event, stream }));
    }
    part.event = event;
    send(event, part.stream.push(event.delta as string));
  }

  function release(key: string | undefined): void {
    const part = key === undefined ? undefined : held.get(key);
    if (!part) return;
    held.delete(key!);
    send(part.event, part.stream.end());
  }

  function end(): void {
    for (const key of held.keys()) release(key);
  }

  // Only other middleware can have made one. They have no end but whatever comes next.
  function pushChunk(event: BaseEvent): void {
    const id = (event.toolCallId ?? event.messageId) as string | undefined;
    const key = id === undefined ? chunkKey : `${event.type} ${id}`;
    if (key !== chunkKey) release(chunkKey);
    chunkKey = key ?? event.type;
    if (typeof event.delta !== "string") return emit(redactEvent(event, rules));
    // Later ones may leave out whose they are.
    pushDelta(chunkKey, { ...held.get(chunkKey)?.event, ...bare(event, rules) });
  }

  return {
    end,
    push(event) {
      if (chunks.has(event.type)) return pushChunk(event);
      release(chunkKey);
      chunkKey = undefined;
      const id = idOf[event.type];
      if (id !== undefined) {
        const key = `${event.type.replace(/_(?:CONTENT|ARGS|END)$/, "")} ${String(event[id])}`;
        if (contents.has(event.type)) return pushDelta(key, bare(event, rules));
        release(key);
      }
      if (terminals.has(event.type)) end();
      emit(redactEvent(event, rules));
    },
  };
}

// The provider's own event holds the piece that was just taken apart.
function bare(event: BaseEvent, rules: TextRules): BaseEvent {
  const { rawEvent: _, delta, ...rest } = event;
  return { ...redactEvent(rest, rules), delta };
}

// Arguments are JSON and have to stay so: they are held to their end, unless they are huge.
const maxArguments = 256 * 1024;

function createJsonStream(rules: TextRules, window: number): TextStream {
  let text: string | undefined = "";
  const rest = createTextStream(rules, window);
  return {
    push(piece) {
      if (text === undefined) return rest.push(piece);
      text += piece;
      if (text.length <= maxArguments) return "";
      const whole = text;
      text = undefined;
      return rest.push(whole);
    },
    end: () => (text === undefined ? rest.end() : redactJsonText(text, rules)),
  };
}

// Only the messages of `AgentError` reach a client, so only they are redacted.
function redactError(reason: unknown, rules: TextRules): unknown {
  if (!isAgentError(reason)) return reason;
  const message = redactText(reason.message, rules);
  if (message === reason.message) return reason;
  return new AgentError(reason.code, message, { cause: reason });
}

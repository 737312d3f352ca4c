import { isOpaqueId } from "@holodeck/agui-core";
import { usageError } from "../shared/cli-error.ts";
import type { Command, Io } from "../shared/io.ts";
import { toCommand } from "../shared/to-command.ts";
import type { FlagValues } from "../shared/to-command.ts";
import { createConversation } from "./conversation.ts";
import { createLineReader } from "./line-reader.ts";
import type { LineReader } from "./line-reader.ts";
import { createPrinter } from "./printer.ts";
import { promptLoop } from "./prompt-loop.ts";
import type { Interrupts } from "./prompt-loop.ts";
import { readHeaders, readUrl } from "./target.ts";
import type { ChatTarget } from "./run-client.ts";
import { takeTurn } from "./turn.ts";
import type { TurnContext } from "./turn.ts";

const usage = `Usage: holodeck chat <url> [options] [message…]

Connects to any AG-UI endpoint. With a message: one turn; without: a prompt.

  --thread <id>           the thread to use; by default a new one
  --header 'name: value'  sent with every request; repeatable
  --json                  one event a line, for other programs
  --help

At the prompt: /state, /tools [file.json], /new, /quit. Ctrl-C stops a run, then leaves.
Exit code of a turn: 0 if the agent answered, 1 if not, 2 for usage errors.
`;
const short = "Try: holodeck chat http://127.0.0.1:8000/agui";

const flags = {
  thread: { type: "string" },
  header: { type: "string", multiple: true },
  json: { type: "boolean" },
} as const;

/** `holodeck chat <url>`: an AG-UI client for the terminal. */
export const chatCommand: Command = toCommand({ usage, flags, read: readOptions, run: talk });

interface ChatOptions {
  readonly target: ChatTarget;
  readonly threadId: string | undefined;
  readonly isJson: boolean;
  readonly message: string;
}

function readOptions(
  { thread: threadId, header, json: isJson = false }: FlagValues<typeof flags>,
  [url, ...words]: readonly string[],
): ChatOptions {
  if (threadId !== undefined) checkThread(threadId);
  const message = words.join(" ");
  if (isJson && message === "") {
    throw usageError("--json is for one turn: holodeck chat <url> --json 'Hello'.");
  }
  const headers = readHeaders(header);
  return { target: { url: readUrl(url, short), headers }, threadId, isJson, message };
}

function checkThread(id: string): void {
  if (isOpaqueId(id)) return;
  throw usageError(`"${String(id)}" is not a thread id: use 1 to 256 visible characters.`);
}

async function talk({ target, threadId, isJson, message }: ChatOptions, io: Io): Promise<number> {
  // Events are for a program then, and text for people goes to stderr.
  const out = isJson ? io.err : io.out;
  const isColoured =
    (out as { isTTY?: boolean }).isTTY === true && io.env["NO_COLOR"] === undefined;
  const interrupts = listenForInterrupts();
  let reader: LineReader | undefined;
  // Opened on the first question: a turn in a script does not read the input.
  const lines = (): LineReader => {
    if (reader) return reader;
    reader = createLineReader(io.input, out);
    reader.onInterrupt(interrupts.stop);
    return reader;
  };
  const chat: TurnContext = {
    target,
    lines,
    printer: createPrinter({ out, isColoured }),
    ...(isJson ? { onEvent: (event) => void io.out.write(`${toAsciiJson(event)}\n`) } : {}),
  };
  const conversation = createConversation(threadId);
  try {
    if (message === "") return await promptLoop(chat, { conversation, interrupts, io });
    const end = await takeTurn(chat, conversation, { text: message, signal: interrupts.next() });
    if (end === "unanswered") chat.printer.error("The agent waits for an answer.");
    return end === "done" ? 0 : end === "stopped" ? 130 : 1;
  } finally {
    reader?.close();
    interrupts.close();
  }
}

function listenForInterrupts(): Interrupts & { stop(): void; close(): void } {
  let current = new AbortController();
  const stop = (): void => current.abort();
  process.on("SIGINT", stop);
  return {
    stop,
    next() {
      current = new AbortController();
      return current.signal;
    },
    close: () => void process.off("SIGINT", stop),
  };
}

// JSON escapes the controls below space only; a terminal obeys some of those above DEL too.
function toAsciiJson(event: unknown): string {
  return JSON.stringify(event).replaceAll(
    /[\u007F-\u009F\u2028-\u202E\u2066-\u2069]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

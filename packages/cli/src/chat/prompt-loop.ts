import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { Tool } from "@ag-ui/core";
import type { Io } from "../shared/io.ts";
import { createConversation } from "./conversation.ts";
import type { Conversation } from "./conversation.ts";
import { takeTurn } from "./turn.ts";
import type { TurnContext } from "./turn.ts";

const help = "/state  /tools [file.json]  /new  /quit  Ctrl-C stops a run, then leaves";

/** Something that Ctrl-C can stop. */
export interface Interrupts {
  /** The signal of the next thing that Ctrl-C stops. */
  next(): AbortSignal;
}

/** Reads what is typed and talks to the agent, until /quit or the end of the input. */
export async function promptLoop(
  chat: TurnContext,
  {
    conversation: first,
    interrupts,
    io,
  }: { conversation: Conversation; interrupts: Interrupts; io: Io },
): Promise<number> {
  const { printer } = chat;
  let conversation = first;
  printer.line(`${chat.target.url.href}\n${help}`);
  for (;;) {
    printer.beforePrompt();
    const waiting = interrupts.next();
    const line = await chat.lines().ask("> ", waiting);
    if (waiting.aborted) return 130;
    if (line === undefined || line.trim() === "/quit") return 0;
    const [word = "", ...rest] = line.trim().split(/\s+/);
    if (word === "") continue;
    if (word === "/new") {
      const { tools } = conversation;
      conversation = createConversation();
      conversation.tools = tools;
      printer.line(`A new thread: ${conversation.threadId}`);
    } else if (word === "/state") {
      printer.line(JSON.stringify(conversation.state, null, 2));
    } else if (word === "/tools") {
      await offerTools(conversation, { file: rest.join(" "), cwd: io.cwd }, printer.line);
    } else if (word.startsWith("/")) {
      printer.line(`Unknown command ${word}. Commands: ${help}`);
    } else {
      await takeTurn(chat, conversation, { text: line, signal: interrupts.next() });
    }
  }
}

async function offerTools(
  conversation: Conversation,
  { file, cwd }: { file: string; cwd: string },
  print: (text: string) => void,
): Promise<void> {
  try {
    if (file !== "") conversation.tools = await readTools(resolve(cwd, file));
    const { tools } = conversation;
    if (tools.length === 0) print("No tools. /tools file.json offers the agent those of a file.");
    for (const { name, description } of tools) print(`${name}: ${description}`);
  } catch (error) {
    print(`${file} has no tools: ${(error as Error).message}`);
  }
}

async function readTools(path: string): Promise<Tool[]> {
  const text = await readFile(path, "utf8");
  // The schemas are loaded only when tools are offered.
  const { ToolSchema } = await import("@ag-ui/core/schemas");
  return ToolSchema.array().parse(JSON.parse(text));
}

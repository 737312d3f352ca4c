import { AgentError } from "@holodeck/agui-core";
import { quoteText } from "@holodeck/agui-core/internal";
import { FileError } from "../../shared/file-error.ts";
import type { FileFault } from "../../shared/file-error.ts";
import type { ExtractAnswer } from "../job.ts";

const words: Partial<Record<FileFault, string>> = {
  damaged: "is damaged and cannot be read",
  encrypted: "is protected by a password",
  "too-large": "takes too much memory to read",
  "too-slow": "takes too long to read",
};

/** The refusal of a file, in words. */
export function refuse(name: string, fault: FileFault, detail?: string): FileError {
  const reason = detail === undefined ? "" : `: ${detail}`;
  const text = `${quoteText(name, 100)} ${words[fault] ?? "cannot be read"}${reason}.`;
  return new FileError(name, fault, text);
}

/** What a thread has answered instead of a text, as an error. */
export function toError(name: string, answer: Exclude<ExtractAnswer, { text: string }>): Error {
  if ("fault" in answer) return refuse(name, answer.fault, answer.detail);
  if ("error" in answer)
    return new Error(`${quoteText(name, 100)} could not be read: ${answer.error}`);
  const { missing } = answer;
  return new Error(
    `Reading ${quoteText(name, 100)} requires the package ${missing}, which is not installed: npm install ${missing}.`,
  );
}

export function closed(): AgentError {
  return new AgentError("shutting-down", "The server is shutting down.");
}

/** The queue is full. */
export function queueFull(queue: number): AgentError {
  const message = `Too many files wait to be read: this server keeps at most ${queue} (\`queue\` of extractFiles).`;
  return new AgentError("capacity-exceeded", message, { status: 503, retryAfter: 5 });
}

import { isAgentError } from "@holodeck/agui-core";
import { FileError } from "../../shared/file-error.ts";
import type { FileFault } from "../../shared/file-error.ts";
import type { ExtractorOptions } from "../extractor.ts";
import type { ExtractJob } from "../job.ts";
import { queueFull } from "./answers.ts";

/** What the process that reads files is sent. */
export type ReaderCommand =
  | { readonly type: "open"; readonly options: ExtractorOptions }
  | {
      readonly type: "read";
      readonly id: number;
      readonly name: string;
      readonly job: ExtractJob;
      readonly owner: string;
      readonly isAlone: boolean;
    }
  | { readonly type: "cancel"; readonly id: number };

/** What it reports. */
export type ReaderReport =
  | { readonly type: "ready" }
  | { readonly type: "began"; readonly id: number }
  | {
      readonly type: "done";
      readonly id: number;
      readonly outcome: ReadOutcome;
      /** Whether it holds so much memory, and nothing to read, that it should not be kept. */
      readonly isGrown: boolean;
    };

export type ReadOutcome =
  | { readonly text: string }
  | { readonly fault: FileFault; readonly message: string }
  | { readonly isQueueFull: true }
  | { readonly error: string };

/** An error in a form that can be sent to another process. */
export function toOutcome(error: unknown): ReadOutcome {
  if (error instanceof FileError) return { fault: error.fault, message: error.message };
  if (isAgentError(error) && error.code === "capacity-exceeded") return { isQueueFull: true };
  return { error: error instanceof Error ? error.message : String(error) };
}

/** The error that was sent. */
export function fromOutcome(
  outcome: Exclude<ReadOutcome, { text: string }>,
  { name, queue }: { readonly name: string; readonly queue: number },
): Error {
  if ("fault" in outcome) return new FileError(name, outcome.fault, outcome.message);
  return "isQueueFull" in outcome ? queueFull(queue) : new Error(outcome.error);
}

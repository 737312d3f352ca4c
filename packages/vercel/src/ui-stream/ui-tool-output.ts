import { isRecord, own } from "@holodeck/agui-core/internal";
import { parseStructure } from "../shared/json.ts";

/** What a client is shown of a tool's answer. */
export type ToolOutput = { readonly output: unknown } | { readonly errorText: string };

/** Reads the content of a TOOL_CALL_RESULT: JSON as what it is, our tools' errors as errors. */
export function toToolOutput(content: unknown, jsonDepth?: number): ToolOutput {
  const output =
    typeof content === "string"
      ? parseStructure(content, jsonDepth)
      : fromParts(content, jsonDepth);
  const errorText = errorIn(output);
  return errorText === undefined ? { output } : { errorText };
}

function fromParts(content: unknown, jsonDepth: number | undefined): unknown {
  if (!Array.isArray(content)) return content ?? null;
  const texts = content.map((part: unknown) => (isRecord(part) ? own(part, "text") : undefined));
  // Parts with media stay parts: their text alone would be incomplete.
  if (texts.some((text) => typeof text !== "string")) return content;
  return parseStructure(texts.join(""), jsonDepth);
}

// The format in which `callTool` reports a failed tool to the model.
function errorIn(output: unknown): string | undefined {
  if (!isRecord(output) || Object.keys(output).length !== 1) return undefined;
  const error = own(output, "error");
  if (!isRecord(error)) return undefined;
  const { code, message } = error;
  return typeof code === "string" && typeof message === "string" ? message : undefined;
}

import { asText, isRecord } from "@holodeck/agui-core/internal";
import type { Tool } from "@holodeck/agui-core";
import { invalidParam } from "./errors.ts";

/** The tools of a request. */
export interface OfferedTools {
  /** Functions, which the client makes calls of. */
  readonly tools: Tool[];
  /** Tools that a model provider would run, such as web search; agents receive them as `forwardedProps.tools`. */
  readonly others: readonly unknown[];
}

/** Reads `tools` of either API: a function is nested in chat completions and flat in Responses. */
export function readTools(value: unknown): OfferedTools {
  if (value === undefined || value === null) return { tools: [], others: [] };
  if (!Array.isArray(value)) throw invalidParam("tools", "must be a list.");
  const tools: Tool[] = [];
  const others: unknown[] = [];
  (value as unknown[]).forEach((entry, index) => {
    if (!isRecord(entry)) throw invalidParam(`tools.${index}`, "must be an object.");
    if (entry.type !== "function") return others.push(entry);
    const made = isRecord(entry.function) ? entry.function : entry;
    const { name, parameters } = made;
    if (typeof name !== "string" || name === "") {
      throw invalidParam(`tools.${index}.name`, "must be the name of a function.");
    }
    tools.push({
      name,
      description: asText(made.description) ?? "",
      ...(parameters !== undefined && parameters !== null && { parameters }),
    });
  });
  return { tools, others };
}

/** The names of the tools that the client runs, to recognize their calls: no client replaces a server tool. */
export function clientToolsOf(
  tools: readonly Tool[],
  serverTools: ReadonlySet<string>,
): ReadonlySet<string> {
  return new Set(tools.flatMap(({ name }) => (serverTools.has(name) ? [] : name)));
}

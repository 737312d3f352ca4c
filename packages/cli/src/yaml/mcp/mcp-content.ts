import type { McpContentPart } from "@holodeck/agui-adapters/mcp";

/** The parts as text, for models that accept nothing else from a tool. */
export function inWords(parts: readonly McpContentPart[]): string {
  return parts
    .map((part) =>
      part.type === "text"
        ? part.text
        : `[${part.type}, ${part.source.mimeType}, shown to the user]`,
    )
    .join("\n");
}

import { AgentError } from "@holodeck/agui-core";
import type { CallToolResult } from "@modelcontextprotocol/client";

/** A part of a result, as AG-UI has it. */
export type McpContentPart =
  | { readonly type: "text"; readonly text: string }
  | {
      readonly type: "image" | "audio" | "document";
      readonly source: { readonly type: "data"; readonly value: string; readonly mimeType: string };
    };

/**
 * The result of a tool: text alone as a string, with media as content parts. An error is thrown.
 */
export function toToolResult(name: string, result: CallToolResult): string | McpContentPart[] {
  const parts = (result.content ?? []).map(toPart);
  const text = parts.flatMap((part) => (part.type === "text" ? part.text : [])).join("\n");
  if (result.isError) throw new AgentError("tool-error", text || `The tool "${name}" failed.`);
  if (parts.every(({ type }) => type === "text")) {
    return text === "" && result.structuredContent !== undefined
      ? JSON.stringify(result.structuredContent)
      : text;
  }
  return parts;
}

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

type Block = CallToolResult["content"][number];

function toPart(block: Block): McpContentPart {
  switch (block.type) {
    case "text":
      return { type: "text", text: block.text };
    case "image":
    case "audio":
      return media(block.type, block.data, block.mimeType);
    case "resource_link":
      return { type: "text", text: `[${block.title ?? block.name}](${block.uri})` };
    case "resource": {
      const { resource } = block;
      if ("text" in resource) return { type: "text", text: resource.text };
      return media("document", resource.blob, resource.mimeType ?? "application/octet-stream");
    }
    default:
      return { type: "text", text: JSON.stringify(block) };
  }
}

function media(
  type: "image" | "audio" | "document",
  value: string,
  mimeType: string,
): McpContentPart {
  return { type, source: { type: "data", value, mimeType } };
}

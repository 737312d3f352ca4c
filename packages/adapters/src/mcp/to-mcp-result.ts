import { AgentError } from "@holodeck/agui-core";
import { asText, isRecord } from "@holodeck/agui-core/internal";
import type { Json } from "@holodeck/agui-core";
import { toRecord } from "../_json.ts";

/** A part of a result, as AG-UI has it. */
export type McpContentPart =
  | { readonly type: "text"; readonly text: string }
  | {
      readonly type: "image" | "audio" | "document";
      readonly source: { readonly type: "data"; readonly value: string; readonly mimeType: string };
    };

/** The result of a tool: text alone as a string, with media as content parts. An error is thrown. */
export function toMcpResult(name: string, result: Json): string | McpContentPart[] {
  const blocks = Array.isArray(result.content) ? result.content.filter(isRecord) : [];
  const parts = blocks.map(toPart);
  const text = parts.flatMap((part) => (part.type === "text" ? part.text : [])).join("\n");
  if (result.isError) throw new AgentError("tool-error", text || `The tool "${name}" failed.`);
  if (parts.every(({ type }) => type === "text")) {
    return text === "" && result.structuredContent !== undefined
      ? JSON.stringify(result.structuredContent)
      : text;
  }
  return parts;
}

function toPart(block: Json): McpContentPart {
  switch (block.type) {
    case "text":
      return { type: "text", text: asText(block.text) ?? "" };
    case "image":
    case "audio":
      return media(block.type, block.data, block.mimeType);
    case "resource_link": {
      const label = asText(block.title) ?? asText(block.name) ?? "";
      return { type: "text", text: `[${label}](${asText(block.uri) ?? ""})` };
    }
    case "resource": {
      const { text, blob, mimeType } = toRecord(block.resource);
      if (typeof text === "string") return { type: "text", text };
      return media("document", blob, mimeType ?? "application/octet-stream");
    }
    default:
      return { type: "text", text: JSON.stringify(block) };
  }
}

function media(
  type: "image" | "audio" | "document",
  value: unknown,
  mimeType: unknown,
): McpContentPart {
  return {
    type,
    source: { type: "data", value: asText(value) ?? "", mimeType: asText(mimeType) ?? "" },
  };
}

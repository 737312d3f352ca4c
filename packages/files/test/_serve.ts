import { createAgentHandler } from "@holodeck/agui";
import type { AgentHandler, AgentHandlerOptions, Message, RunContext } from "@holodeck/agui";
import { extractFiles } from "../src/index.ts";
import type { ExtractFilesOptions } from "../src/index.ts";

export const types = {
  png: "image/png",
  pdf: "application/pdf",
  docx: "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
  xlsx: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
  pptx: "application/vnd.openxmlformats-officedocument.presentationml.presentation",
  txt: "text/plain",
  csv: "text/csv",
  md: "text/markdown",
} as const;

/** For `expect.poll`: a busy machine is no reason to fail. */
export const patience = { interval: 5, timeout: 60_000 } as const;

export interface Sent {
  readonly name: string;
  readonly mimeType: string;
  readonly bytes: Uint8Array;
}

export interface Echo {
  readonly handler: AgentHandler;
  /** What the agent was given last. */
  readonly seen: { messages: readonly Message[]; files: RunContext["files"]; bytes: Uint8Array[] };
}

/** A handler whose agent repeats what it was told, and keeps what it was given. */
export function serveEcho(options: ExtractFilesOptions = {}, more: AgentHandlerOptions = {}): Echo {
  const seen: Echo["seen"] = { messages: [], files: [], bytes: [] };
  const handler = createAgentHandler(
    {
      echo: {
        async *run(input, context) {
          seen.messages = input.messages;
          seen.files = context.files;
          seen.bytes = await Promise.all(context.files.map((file) => file.bytes()));
          yield textOf(input.messages.at(-1)!);
        },
      },
    },
    // A busy machine reads slowly; what takes too long has tests of its own.
    { logger: silent, ...more, files: extractFiles({ timeoutMs: 300_000, ...options }) },
  );
  return { handler, seen };
}

const silent = { debug() {}, info() {}, warn() {}, error() {} };

export function textOf({ content }: Message): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.map((part) => (part.type === "text" ? part.text : `<${part.type}>`)).join("");
}

export function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("base64");
}

/** The ways in which a client can send files to the agent. */
export const ways: Record<string, (message: string, files: readonly Sent[]) => Request> = {
  "AG-UI": (message, files) =>
    toAgui([
      { type: "text", text: message },
      ...files.map(({ name, mimeType, bytes }) => ({
        type: mimeType.startsWith("image/") ? "image" : "document",
        source: { type: "data", value: base64(bytes), mimeType },
        metadata: { filename: name },
      })),
    ]),
  "AG-UI's binary parts": (message, files) =>
    toAgui([
      { type: "text", text: message },
      ...files.map(({ name, mimeType, bytes }) => ({
        type: "binary",
        mimeType,
        data: base64(bytes),
        filename: name,
      })),
    ]),
  "REST with base64": (message, files) =>
    toJson("/agent/echo/chat", {
      message,
      files: files.map(({ name, mimeType, bytes }) => ({
        content: base64(bytes),
        mime_type: mimeType,
        filename: name,
      })),
    }),
  "REST with a form": (message, files) => {
    const body = new FormData();
    body.set("message", message);
    for (const { name, mimeType, bytes } of files) {
      body.append("files", new Blob([bytes as Uint8Array<ArrayBuffer>], { type: mimeType }), name);
    }
    return new Request("http://test.local/agent/echo/chat", { method: "POST", body });
  },
  useChat: (message, files) =>
    toJson("/api/chat", {
      id: `chat-${Math.random()}`,
      trigger: "submit-message",
      messages: [
        {
          id: "m1",
          role: "user",
          parts: [
            { type: "text", text: message },
            ...files.map(({ name, mimeType, bytes }) => ({
              type: "file",
              mediaType: mimeType,
              filename: name,
              url: `data:${mimeType};base64,${base64(bytes)}`,
            })),
          ],
        },
      ],
    }),
};

/** Of AI SDK 4, which sends files beside the text of a message. */
ways["useChat of AI SDK 4"] = (message, files) =>
  toJson("/api/chat", {
    id: `chat-${Math.random()}`,
    messages: [
      {
        id: "m1",
        role: "user",
        content: message,
        experimental_attachments: files.map(({ name, mimeType, bytes }) => ({
          name,
          contentType: mimeType,
          url: `data:${mimeType};base64,${base64(bytes)}`,
        })),
      },
    ],
  });

export function toAgui(content: unknown, more: Record<string, unknown> = {}): Request {
  return toJson("/agui", {
    threadId: `t-${Math.random()}`,
    runId: `r-${Math.random()}`,
    messages: [{ id: "m1", role: "user", content }],
    tools: [],
    context: [],
    state: {},
    forwardedProps: {},
    ...more,
  });
}

function toJson(path: string, body: unknown): Request {
  return new Request(`http://test.local${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
}

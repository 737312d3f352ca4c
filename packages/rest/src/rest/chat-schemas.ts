import { createOnce, essenceOf, sizeOfBase64 } from "@holodeck/agui-core/internal";
import type { Limits } from "@holodeck/agui-core";
import type * as Zod from "zod";
import { idRules } from "../shared/ids.ts";
import type { IdFormat } from "../shared/ids.ts";
import { unsupportedType } from "./refusal.ts";

/** What is asked of an agent over REST. */
export interface ChatRequest {
  message: string;
  /** A new session when there is none. */
  session_id?: string | null | undefined;
  files?: FileContent[] | null | undefined;
}

/** A file inside a JSON request. */
export interface FileContent {
  /** Base64. */
  content: string;
  mime_type: string;
  filename?: string | null | undefined;
}

/** What a request may hold. */
export interface ChatBounds extends Pick<Limits, "files"> {
  /** Code points of the message. */
  readonly messageChars: number;
  readonly idFormat: IdFormat;
  readonly mimeTypes: ReadonlySet<string>;
}

/** The schemas that requests are checked with, and that OpenAPI is made from. */
export interface ChatSchemas {
  readonly z: typeof Zod;
  readonly request: Zod.ZodType<ChatRequest>;
  /** A form, without its files: they are checked while they are read. */
  readonly form: Zod.ZodType<Omit<ChatRequest, "files">>;
  readonly formWithFiles: Zod.ZodType;
  readonly response: Zod.ZodType;
}

/** zod, loaded on first use: it costs more to import than everything else here. */
export const loadZod: () => Promise<typeof Zod> = createOnce(() => import("zod"));

/** The schemas of REST within some bounds. */
export function createChatSchemas(z: typeof Zod, bounds: ChatBounds): ChatSchemas {
  const { messageChars, mimeTypes } = bounds;
  const id = idRules[bounds.idFormat];

  const text = (name: string): Zod.ZodString =>
    z.string({
      error: ({ input }) => `${name} ${input === undefined ? "is required" : "must be a string"}`,
    });

  const message = text("message")
    .refine((value) => /\S/.test(value), { error: "message cannot be blank", abort: true })
    .refine((value) => !isLonger(value, messageChars), {
      error: `message must have at most ${messageChars} characters`,
    })
    .meta({ minLength: 1, maxLength: messageChars, pattern: "\\S" });

  const sessionId = text("session_id")
    .refine((value) => id.isId(value), { error: id.message })
    .meta(id.pattern === undefined ? {} : { pattern: id.pattern });

  const file = z.object(
    {
      content: text("content")
        .refine((value) => sizeOfBase64(value) !== undefined, {
          error: "content must be valid base64",
        })
        .meta({ contentEncoding: "base64" }),
      mime_type: text("mime_type")
        .refine((value) => mimeTypes.has(essenceOf(value)), {
          error: ({ input }) => unsupportedType(String(input)),
          params: { isMimeType: true },
        })
        .meta({ examples: [...mimeTypes] }),
      filename: text("filename").nullish(),
    },
    { error: "a file must be an object with content and mime_type" },
  );

  const usage = z.object({
    prompt_tokens: z.int().min(0),
    completion_tokens: z.int().min(0),
    total_tokens: z.int().min(0),
  });
  const toolCall = z.object({
    name: z.string(),
    arguments: z.record(z.string(), z.unknown()),
    status: z.enum(["success", "error"]),
  });

  return {
    z,
    request: z.object({
      message,
      session_id: sessionId.nullish(),
      files: z.array(file, { error: "files must be an array" }).max(bounds.files).nullish(),
    }),
    form: z.object({ message, session_id: sessionId.optional() }),
    formWithFiles: z.object({
      message,
      session_id: sessionId.optional(),
      files: z
        .array(z.string().meta({ format: "binary" }))
        .max(bounds.files)
        .optional(),
    }),
    response: z.object({
      message_id: z.string(),
      content: z.string(),
      session_id: z.string(),
      tool_calls: z.array(toolCall),
      tokens_used: usage.nullable(),
      execution_time_ms: z.int().min(0),
      suggested_questions: z.array(z.string()).optional(),
    }),
  };
}

// Code points, not UTF-16 units. A text with that many units cannot have more of them.
function isLonger(text: string, limit: number): boolean {
  if (text.length <= limit) return false;
  if (text.length > 2 * limit) return true;
  let count = 0;
  for (const _ of text) if (++count > limit) return true;
  return false;
}

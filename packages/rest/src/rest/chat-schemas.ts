import { createOnce, essenceOf, sizeOfBase64 } from "@holodeck/agui-core/internal";
import type * as Zod from "zod";
import { idRules } from "../shared/ids.ts";
import { isLonger } from "../shared/is-longer.ts";
import type { ChatBounds, ChatRequest } from "./check-chat.ts";
import { unsupportedType } from "./refusal.ts";

/** What `checkChat` takes and what is answered, as schemas that OpenAPI is made from. */
export interface ChatSchemas {
  readonly z: typeof Zod;
  readonly request: Zod.ZodType<ChatRequest>;
  readonly formWithFiles: Zod.ZodType;
  readonly response: Zod.ZodType;
}

/** zod, loaded on first use: it costs more to import than everything else here. */
export const loadZod: () => Promise<typeof Zod> = /* @__PURE__ */ createOnce(() => import("zod"));

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

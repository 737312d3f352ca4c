import { isRecord } from "@holodeck/agui-core/internal";
import type { Json } from "@holodeck/agui-core";
import type { z as zod, ZodType } from "zod";
import { createAnswerSchemas } from "./threads-answers.ts";
import type { AnswerSchemas } from "./threads-answers.ts";
import { isLonger } from "../shared/is-longer.ts";
import { maxMessage, parameterTypes, toolName } from "./threads-check.ts";
import type { ChatBody, ToolResultBody } from "./threads-check.ts";
import { idFault, toThreadId } from "./threads-settings.ts";
import type { ThreadIdFormat } from "./threads-settings.ts";

type Zod = typeof zod;

/** What clients send, by the rules of `threads-check.ts`, and what they get, as schemas that OpenAPI is made from. */
export interface ThreadSchemas extends AnswerSchemas {
  readonly chat: ZodType<ChatBody>;
  readonly toolResult: ZodType<ToolResultBody>;
  toJson(schema: ZodType): Json;
}

const loaded = new Map<ThreadIdFormat, ThreadSchemas>();

/** Loaded on first use: zod costs more to import than everything else here. */
export async function loadThreadSchemas({
  idFormat,
}: {
  readonly idFormat: ThreadIdFormat;
}): Promise<ThreadSchemas> {
  const known = loaded.get(idFormat);
  if (known) return known;
  const { z } = await import("zod");
  const schemas = createSchemas(z, idFormat);
  loaded.set(idFormat, schemas);
  return schemas;
}

function createSchemas(z: Zod, idFormat: ThreadIdFormat): ThreadSchemas {
  return {
    ...createRequests(z, idFormat),
    ...createAnswerSchemas(z),
    toJson(schema) {
      // As sent: a default may be left out, and an additional field is allowed.
      const options = { io: "input", unrepresentable: "any" } as const;
      const { $schema: _, ...json } = z.toJSONSchema(schema, options);
      return json;
    },
  };
}

function createRequests(
  z: Zod,
  idFormat: ThreadIdFormat,
): Pick<ThreadSchemas, "chat" | "toolResult"> {
  const text = (name: string) =>
    z.string({
      error: ({ input }) =>
        `${name} ${input === undefined ? "is missing; it " : ""}must be a string`,
    });
  const object = (name: string) =>
    z.custom<Json>(isRecord, `${name} must be an object`).meta({ type: "object" });
  const threadId = text("thread_id")
    .refine((id) => toThreadId(id, idFormat) !== undefined, idFault(idFormat))
    .meta(idFormat === "uuid" ? { format: "uuid" } : {})
    .nullish();

  const message = text("message")
    .refine((value) => value.trim() !== "", "message cannot be blank")
    .refine((value) => !isLonger(value, maxMessage), {
      error: `message must have at most ${maxMessage} characters`,
    })
    .meta({ minLength: 1, maxLength: maxMessage, pattern: "\\S" });

  const parameter = z.object({
    name: text("name").min(1, "name cannot be empty"),
    type: z.enum(parameterTypes, `type must be one of ${parameterTypes.join(", ")}`),
    description: text("description").optional(),
    required: z.boolean("required must be true or false").optional(),
    default: z.unknown().optional(),
  });
  const tool = z.object({
    name: text("name").regex(toolName, "name must have 1 to 128 visible characters"),
    description: text("description").default(""),
    parameters: z.union([z.array(parameter), object("parameters")]).optional(),
    execution_location: z
      .literal("client", 'execution_location must be "client": the server has its own tools')
      .optional(),
    timeout_seconds: z
      .number("timeout_seconds must be a number")
      .positive("timeout_seconds must be above 0")
      .optional(),
  });
  const tools = z
    .array(tool, "tools must be an array")
    .max(128, "tools must be at most 128")
    .refine(
      (list) => new Set(list.map(({ name }) => name)).size === list.length,
      "tools must have different names",
    );

  const chat = z
    .object({
      message,
      thread_id: threadId,
      stream: z.boolean("stream must be true or false").default(true),
      metadata: object("metadata").default({}),
      agent_id: text("agent_id").nullish(),
      tools: tools.default([]),
    })
    .refine((body) => body.stream || isEmpty(body.tools), {
      path: ["tools"],
      error: "tools need stream: true, because their calls are sent in the stream",
      when: hasRecord,
    });

  const toolResult = z
    .object({
      execution_id: text("execution_id")
        .min(1, "execution_id cannot be empty")
        .max(300, "execution_id must have at most 300 characters"),
      thread_id: threadId,
      result: z.unknown().optional(),
      error: text("error").min(1, "error cannot be empty").nullish(),
      execution_time_ms: z
        .number({
          error: ({ input }) =>
            `execution_time_ms ${input === undefined ? "is missing; it " : ""}must be a number`,
        })
        .nonnegative("execution_time_ms must not be negative"),
    })
    // By presence, because `null` is a result too. Clients that send all fields send null for the
    // other one.
    .refine((body) => typeof body.error === "string" || Object.hasOwn(body, "result"), {
      path: ["result"],
      error: "result or error must be given",
      when: hasRecord,
    })
    .refine((body) => typeof body.error !== "string" || (body.result ?? null) === null, {
      path: ["error"],
      error: "error must not be given together with a result",
      when: hasRecord,
    });
  return { chat, toolResult };
}

// Rules about several fields also apply when other fields are wrong: all faults are reported at
// once.
function hasRecord({ value }: { value: unknown }): boolean {
  return isRecord(value);
}

function isEmpty(list: unknown): boolean {
  return !Array.isArray(list) || list.length === 0;
}

import { isRecord } from "@holodeck/agui-core/internal";
import type { Json } from "@holodeck/agui-core";
import type { z as zod, ZodType } from "zod";
import { createAnswerSchemas } from "./threads-answers.ts";
import type { AnswerSchemas } from "./threads-answers.ts";
import { idFault, toThreadId } from "./threads-settings.ts";
import type { ThreadIdFormat } from "./threads-settings.ts";

type Zod = typeof zod;

/** A tool that the client runs, as it describes it. */
export interface ThreadTool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema, or a list of parameters. */
  readonly parameters?: Json | readonly ThreadToolParameter[] | undefined;
  readonly timeout_seconds?: number | undefined;
}

export interface ThreadToolParameter {
  readonly name: string;
  readonly type: string;
  readonly description?: string | undefined;
  readonly required?: boolean | undefined;
  readonly default?: unknown;
}

/** The body of `POST /chat`. */
export interface ChatBody {
  readonly message: string;
  readonly thread_id?: string | null | undefined;
  readonly stream: boolean;
  readonly metadata: Json;
  readonly agent_id?: string | null | undefined;
  readonly tools: readonly ThreadTool[];
}

/** The body of `POST /tool_result`. */
interface ToolResultBody {
  readonly execution_id: string;
  readonly thread_id?: string | null | undefined;
  readonly result?: unknown;
  readonly error?: string | null | undefined;
  readonly execution_time_ms: number;
}

/** What clients send, as schemas that validate it, and what they get; OpenAPI is made from both. */
export interface ThreadSchemas extends AnswerSchemas {
  readonly chat: ZodType<ChatBody>;
  readonly toolResult: ZodType<ToolResultBody>;
  toJson(schema: ZodType): Json;
}

/** In code points. */
const maxMessage = 10_000;

const loaded = new Map<ThreadIdFormat, ThreadSchemas>();

/** Loaded on first use: zod costs more to import than everything else here. */
export async function loadThreadSchemas({
  idFormat,
}: {
  readonly idFormat: ThreadIdFormat;
}): Promise<ThreadSchemas> {
  const known = loaded.get(idFormat);
  // Asking for a module that is there took longer than to read a body by it.
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
    .refine((value) => isWithin(value, maxMessage), {
      error: `message must have at most ${maxMessage} characters`,
    })
    .meta({ minLength: 1, maxLength: maxMessage, pattern: "\\S" });

  const types = ["string", "number", "integer", "boolean", "object", "array", "null"];
  const parameter = z.object({
    name: text("name").min(1, "name cannot be empty"),
    type: z.enum(types, `type must be one of ${types.join(", ")}`),
    description: text("description").optional(),
    required: z.boolean("required must be true or false").optional(),
    default: z.unknown().optional(),
  });
  const tool = z.object({
    name: text("name").regex(/^[\x21-\x7e]{1,128}$/, "name must have 1 to 128 visible characters"),
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

// A string has at most as many code points as it has units; only a long one needs counting.
function isWithin(text: string, limit: number): boolean {
  if (text.length <= limit) return true;
  if (text.length > 2 * limit) return false;
  let count = 0;
  for (const _ of text) count++;
  return count <= limit;
}

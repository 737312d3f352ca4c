import { isOpaqueId } from "@holodeck/agui-core";
import { isRecord } from "@holodeck/agui-core/internal";
import type { Json } from "@holodeck/agui-core";
import { z } from "zod";
import type { AnswerKind, Bodies } from "./bodies.ts";

const id = z.string().min(1).max(256).refine(isOpaqueId, "must be 1 to 256 visible characters");

/** One schema for each thing that clients send, besides the input of a run: what `checkBody` takes, for OpenAPI. */
export const schemas: { readonly [K in keyof Bodies]: z.ZodType<Bodies[K]> } = {
  connect: z.looseObject({ threadId: id, protocolVersion: z.string().optional() }),
  stop: z.looseObject({ runId: id.optional() }),
  envelope: z.looseObject({
    method: z.string(),
    params: z.custom<Json>(isRecord, "must be an object").meta({ type: "object" }).optional(),
    body: z.unknown().optional(),
  }),
  resource: z.object({
    path: z.string().max(4096).startsWith("/"),
    httpMethod: z.enum(["GET", "POST", "PATCH", "DELETE"]),
  }),
  change: z
    .looseObject({
      name: z.string().trim().min(1).max(200).nullable().optional(),
      archived: z.boolean().optional(),
    })
    .refine(({ name, archived }) => name !== undefined || archived !== undefined, {
      message: "An update needs a name or archived.",
    }),
  archive: z.looseObject({ agentId: z.string().optional() }),
  list: z.object({
    agentId: z.string().optional(),
    includeArchived: z.enum(["true", "false"]).optional(),
    limit: z.coerce.number().int().min(1).max(100).default(50),
    cursor: z.string().min(1).optional(),
  }),
};

const date = z.iso.datetime();
const thread: z.ZodType = z.object({
  id: z.string(),
  name: z.string().nullable(),
  agentId: z.string(),
  organizationId: z.string(),
  createdById: z.string(),
  archived: z.boolean(),
  createdAt: date,
  updatedAt: date,
  lastRunAt: date,
});
const list = z.array(z.record(z.string(), z.unknown()));

/** What is answered, for the description of the routes. */
export const answers: Readonly<Record<AnswerKind, z.ZodType>> = {
  stopped: z.object({
    stopped: z.boolean(),
    threadId: z.string().optional(),
    runId: z.string().optional(),
    message: z.string().optional(),
  }),
  threads: z.object({ threads: z.array(thread), nextCursor: z.string().nullable() }),
  thread,
  archived: z.object({ threadId: z.string(), archived: z.boolean() }),
  deleted: z.object({ threadId: z.string(), deleted: z.boolean() }),
  messages: z.object({ messages: list }),
  events: z.object({ events: list }),
  state: z.object({ state: z.unknown() }),
};

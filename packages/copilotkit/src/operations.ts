import type { Json, Route } from "@holodeck/agui-core";
import { loadSchemas } from "@holodeck/agui-protocol";
import type { ZodType } from "zod";
import type { AnswerKind, Bodies } from "./bodies.ts";

/** What a route takes and answers, by the names of the schemas. */
interface Description {
  readonly id: string;
  readonly summary: string;
  /** `"input"`: the input of a run. */
  readonly takes?: keyof Bodies | "input";
  readonly query?: keyof Bodies;
  /** A schema; `"stream"`: server-sent events; `"any"`: what the method inside answers. */
  readonly answers: AnswerKind | "stream" | "any";
}

// By what follows the path that the protocol is mounted at.
const descriptions: Readonly<Record<string, Description>> = {
  "POST ": {
    id: "copilotkitCall",
    summary: "Calls any of CopilotKit's methods through one endpoint.",
    takes: "envelope",
    answers: "any",
  },
  "POST /agent/:agentId/run": {
    id: "copilotkitRun",
    summary: "Runs an agent.",
    takes: "input",
    answers: "stream",
  },
  "POST /agent/:agentId/connect": {
    id: "copilotkitConnect",
    summary: "Streams a thread: its history, then its active run.",
    takes: "connect",
    answers: "stream",
  },
  "POST /agent/:agentId/suggest": {
    id: "copilotkitSuggest",
    summary: "Runs an agent without changing its thread, for suggestions.",
    takes: "input",
    answers: "stream",
  },
  "POST /agent/:agentId/stop/:threadId": {
    id: "copilotkitStop",
    summary: "Stops the run of a thread.",
    takes: "stop",
    answers: "stopped",
  },
  "GET /threads": {
    id: "copilotkitListThreads",
    summary: "Lists the caller's threads, most recently used first.",
    query: "list",
    answers: "threads",
  },
  "PATCH /threads/:threadId": {
    id: "copilotkitChangeThread",
    summary: "Renames, archives or unarchives a thread.",
    takes: "change",
    answers: "thread",
  },
  "DELETE /threads/:threadId": {
    id: "copilotkitDeleteThread",
    summary: "Deletes a thread and stops its run.",
    answers: "deleted",
  },
  "POST /threads/:threadId/archive": {
    id: "copilotkitArchiveThread",
    summary: "Archives a thread.",
    takes: "archive",
    answers: "archived",
  },
  "GET /threads/:threadId/messages": {
    id: "copilotkitThreadMessages",
    summary: "The messages of a thread.",
    answers: "messages",
  },
  "GET /threads/:threadId/events": {
    id: "copilotkitThreadEvents",
    summary: "A thread as the events of one run.",
    answers: "events",
  },
  "GET /threads/:threadId/state": {
    id: "copilotkitThreadState",
    summary: "The state of a thread.",
    answers: "state",
  },
};

/** The route with its OpenAPI operation. `place` distinguishes several mounts of this protocol. */
export function describeRoute(route: Route, base: string, place: number): Route {
  const at = route.path === "/" ? "" : route.path.slice(base.length);
  const description = descriptions[`${route.method} ${at}`];
  if (!description) return route;
  const suffix = place === 0 ? "" : String(place + 1);
  return { ...route, operation: () => toOperation(description, suffix) };
}

async function toOperation(description: Description, suffix: string): Promise<Json> {
  const { id, summary, takes, query, answers } = description;
  const { schemas: bodies } = await import("./schemas.ts");
  const schemas = await loadSchemas();
  const input = schemas.RunAgentInputSchema as unknown as ZodType;
  const operation: Json = { operationId: `${id}${suffix}`, summary, tags: ["copilotkit"] };
  if (takes) {
    const schema = await toJsonSchema(takes === "input" ? input : bodies[takes], "input");
    operation.requestBody = {
      required: takes !== "stop",
      content: { "application/json": { schema } },
    };
  }
  if (query) operation.parameters = toParameters(await toJsonSchema(bodies[query], "output"));
  const empty = { description: "The method has no result." };
  operation.responses = {
    200: await toResponse(answers),
    ...(answers === "any" ? { 204: empty } : {}),
  };
  return operation;
}

async function toResponse(answers: Description["answers"]): Promise<Json> {
  const stream = { "text/event-stream": { schema: { type: "string" } } };
  if (answers === "stream") return { description: "The events of a run.", content: stream };
  if (answers === "any") {
    const content = { ...stream, "application/json": { schema: {} } };
    return { description: "The result of the method.", content };
  }
  const { [answers]: schema } = (await import("./schemas.ts")).answers;
  const content = { "application/json": { schema: await toJsonSchema(schema, "output") } };
  return { description: "Done.", content };
}

async function toJsonSchema(schema: ZodType, io: "input" | "output"): Promise<Json> {
  const { toJSONSchema } = await import("zod");
  const { $schema: _dialect, ...rest } = toJSONSchema(schema, { io, unrepresentable: "any" });
  return rest;
}

// Every one of them may be left out; what has a default is required of the output only.
function toParameters({ properties }: Json): Json[] {
  return Object.entries(properties as Json).map(([name, schema]) => ({
    name,
    in: "query",
    required: false,
    schema,
  }));
}

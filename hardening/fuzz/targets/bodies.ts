// Every operation of our own OpenAPI document, with bodies from its schemas.
import { createAgentHandler } from "@holodeck/agui";
import type { AgentHandler } from "@holodeck/agui";
import { silentLogger } from "@holodeck/agui-core";
import type { Json } from "@holodeck/agui-core";
import { toSegment } from "../../../packages/agui/test/_attempts.ts";
import { everyProtocol } from "../../../packages/agui/test/_every-protocol.ts";
import { fromSchema } from "../from-schema.ts";
import type { Schema } from "../from-schema.ts";
import { createHttpFeed, decodeCase, encodeCase } from "../http-case.ts";
import type { HttpCase } from "../http-case.ts";
import { hostileTexts, mutateJson, mutateText } from "../mutate.ts";
import type { Random } from "../random.ts";
import type { Target } from "../target.ts";

interface Operation {
  readonly name: string;
  readonly path: string;
  readonly parameters: readonly { readonly name: string; readonly in: string }[];
  readonly schema: Schema | undefined;
}

interface Described {
  readonly parameters?: Operation["parameters"];
  readonly requestBody?: { readonly content?: Record<string, { readonly schema?: Schema }> };
}

export function operationsOf(document: Json): Operation[] {
  const paths = document.paths as Record<string, Record<string, Described>>;
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, { parameters = [], requestBody }]) => ({
      name: `${method.toUpperCase()} ${path}`,
      path,
      parameters,
      schema: requestBody?.content?.["application/json"]?.schema,
    })),
  );
}

/** A server whose agent uses what it was given, and does not fail. */
export function createServer(): AgentHandler {
  return createAgentHandler(
    async function* ({ tools, messages, state }, { emit, state: own }) {
      yield `You sent ${messages.length} messages.`;
      if (state !== undefined && state !== null) await own.set({ given: state });
      const [tool] = tools;
      if (tool) emit.toolCall(tool.name, { at: 1 });
    },
    {
      logger: silentLogger,
      protocols: everyProtocol(),
      authenticate: () => ({ id: "ann" }),
      limits: { memoryBytes: 64 << 20 },
    },
  );
}

const ids = [
  "t-1",
  "r-1",
  "default",
  "11111111-2222-4333-8444-555555555555",
  "01ARZ3NDEKTSV4RRFFQ69G5FAV",
  "resp_01ARZ3NDEKTSV4RRFFQ69G5FAV",
];

function textOf(random: Random): string {
  return random.chance(0.8) ? random.pick(ids) : random.pick(hostileTexts) || "x";
}

/** The path of an operation, with something in each of its places. */
export function fillPath({ path, parameters }: Operation, random: Random): string {
  const filled = path.replaceAll(/\{\w+\}/g, () => toSegment(textOf(random)));
  const query = parameters
    .filter((one) => one.in === "query" && random.chance(0.6))
    .map(
      ({ name }) =>
        `${name}=${toSegment(random.chance(0.5) ? String(random.below(100)) : textOf(random))}`,
    );
  return query.length === 0 ? filled : `${filled}?${query.join("&")}`;
}

const types = [
  "application/json",
  "application/json; charset=utf-8",
  "application/x+json",
  "text/plain",
];
const accepts = [
  "text/event-stream",
  "application/json",
  "*/*",
  "application/vnd.ag-ui.event+proto",
  "a/b;q=x",
];

function generate(random: Random, operations: readonly Operation[], document: Json): HttpCase {
  const operation = random.pick(operations);
  const headers: Record<string, string> = {};
  if (random.chance(0.3)) headers.accept = random.pick(accepts);
  const base = { operation: operation.name, path: fillPath(operation, random), headers };
  if (operation.schema === undefined) return base;
  headers["content-type"] = random.chance(0.95) ? types[0]! : random.pick(types);
  const value = fromSchema(operation.schema, { document, random });
  const text = JSON.stringify(value) ?? "null";
  return { ...base, body: random.chance(0.1) ? mutateText(text, random) : text };
}

function mutate(one: HttpCase, random: Random): HttpCase {
  if (one.body === undefined) return one;
  try {
    const value: unknown = JSON.parse(one.body);
    return { ...one, body: JSON.stringify(mutateJson(value, random)) ?? "null" };
  } catch {
    // Text that is not JSON is changed as text.
    return { ...one, body: mutateText(one.body, random) };
  }
}

export const bodies: Target = {
  name: "bodies",
  extension: "json",
  async open() {
    const handler = createServer();
    const document = await handler.openapi();
    const operations = operationsOf(document);
    return {
      generate: (random, corpus) =>
        encodeCase(
          random.chance(0.5)
            ? mutate(decodeCase(random.pick(corpus)), random)
            : generate(random, operations, document),
        ),
      feed: await createHttpFeed(handler),
      close: () => handler.close({ timeoutMs: 0 }),
    };
  },
};

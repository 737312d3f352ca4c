import type { Json } from "@holodeck/agui-core";
import { Ajv2020 } from "ajv/dist/2020.js";
import type { ValidateFunction } from "ajv/dist/2020.js";

interface Media {
  readonly schema?: Json;
  readonly "x-event-schema"?: Json;
}
interface Answer {
  readonly $ref?: string;
  readonly content?: Record<string, Media>;
}
export interface Operation {
  readonly operationId: string;
  readonly responses: Record<string, Answer>;
}

/** The operations of an OpenAPI document: `POST /agui`, with the names of parameters in braces. */
export function operationsOf({ paths }: Json): string[] {
  return Object.entries(paths as Record<string, Json>).flatMap(([path, item]) =>
    Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`),
  );
}

/** What the document promises an operation to answer, checked against what it did answer. */
export function createAnswerCheck(
  document: Json,
): (operation: string, response: Response) => Promise<void> {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema({ ...document, $id: "http://document/" });
  const compiled = new Map<string, ValidateFunction>();
  const at = (ref: string): unknown =>
    ref
      .slice(2)
      .split("/")
      .reduce((value, key) => (value as Json)[key], document as unknown);

  function assertValid(schema: Json, value: unknown, what: string): void {
    const id = JSON.stringify(schema);
    const validate = compiled.get(id) ?? ajv.compile(absolute(schema));
    compiled.set(id, validate);
    if (validate(value)) return;
    throw new Error(`${what}: ${ajv.errorsText(validate.errors)} in ${JSON.stringify(value)}`);
  }

  return async (name, response) => {
    const [method = "", path = ""] = name.split(" ");
    const item = (document.paths as Record<string, Record<string, Operation>>)[path];
    const operation = item?.[method.toLowerCase()];
    if (!operation) throw new Error(`${name} is not in the document.`);
    const { status } = response;
    const said =
      operation.responses[status] ??
      operation.responses[`${Math.floor(status / 100)}XX`] ??
      operation.responses.default;
    if (!said) throw new Error(`${name} answered ${status}, which the document does not know.`);
    const { content } = said.$ref === undefined ? said : (at(said.$ref) as Answer);
    const text = await response.text();
    if (!content) {
      if (text !== "") throw new Error(`${name} answered ${status} with a body: ${text}`);
      return;
    }
    const type = response.headers.get("content-type")?.split(";")[0] ?? "";
    const media = content[type];
    if (!media) throw new Error(`${name} answered ${status} as "${type}", which is not promised.`);
    const isJson = /[/+]json$/.test(type);
    if (media.schema) assertValid(media.schema, isJson ? JSON.parse(text) : text, name);
    const event = media["x-event-schema"];
    if (!event) return;
    const frames = text.split("\n").filter((line) => line.startsWith("data: {"));
    if (frames.length === 0) throw new Error(`${name} streamed no event.`);
    for (const line of frames) assertValid(event, JSON.parse(line.slice(6)), name);
  };
}

// References are to the document; a schema that is compiled by itself has to say so.
function absolute(value: unknown): Json {
  return JSON.parse(
    JSON.stringify(value, (key, inner: unknown) =>
      key === "$ref" && typeof inner === "string" ? `http://document/${inner}` : inner,
    ),
  ) as Json;
}

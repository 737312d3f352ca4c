import type { Json } from "@holodeck/agui-core";

/** Merges the descriptions of several routes at one method and path into one operation. */
export function mergeOperations(operations: readonly Json[]): Json {
  const [first = {}, ...others] = operations;
  return others.reduce(mergeTwo, first);
}

function mergeTwo(a: Json, b: Json): Json {
  const summary = join(a.summary, b.summary);
  const description = join(a.description, b.description);
  const body = mergeBodies(a.requestBody as Json | undefined, b.requestBody as Json | undefined);
  return {
    ...a,
    operationId: `${String(a.operationId)}Or${capital(String(b.operationId))}`,
    ...(summary === undefined ? {} : { summary }),
    ...(description === undefined ? {} : { description }),
    tags: [...new Set([...list<string>(a.tags), ...list<string>(b.tags)])],
    parameters: mergeParameters(list(a.parameters), list(b.parameters)),
    ...(body ? { requestBody: body } : {}),
    responses: mergeResponses(a.responses as Json, b.responses as Json),
  };
}

// A parameter that only one of the routes requires is optional.
function mergeParameters(a: readonly Json[], b: readonly Json[]): Json[] {
  const same = (one: Json, other: Json): boolean => one.name === other.name && one.in === other.in;
  const relaxed = (one: Json, others: readonly Json[]): Json =>
    others.some((other) => same(one, other) && other.required) ? one : { ...one, required: false };
  const shared = a.map((one) => (one.in === "path" ? one : relaxed(one, b)));
  const added = b.filter((one) => !a.some((other) => same(one, other)));
  return [...shared, ...added.map((one) => relaxed(one, []))];
}

function mergeBodies(a: Json | undefined, b: Json | undefined): Json | undefined {
  if (!a || !b) return a || b ? { ...(a ?? b), required: false } : undefined;
  return {
    ...a,
    required: a.required === true && b.required === true,
    content: mergeContent(a.content as Json, b.content as Json),
  };
}

function mergeResponses(a: Json, b: Json): Json {
  return mergeBy(a, b, (one, other) => {
    if (JSON.stringify(one) === JSON.stringify(other)) return one;
    const content = mergeContent(one.content as Json, other.content as Json);
    return { ...one, ...other, description: join(one.description, other.description), content };
  });
}

function mergeContent(a: Json = {}, b: Json = {}): Json {
  return mergeBy(a, b, (one, other) => ({
    ...one,
    ...other,
    ...eitherAt("schema", one, other),
    ...eitherAt("x-event-schema", one, other),
  }));
}

function eitherAt(key: string, one: Json, other: Json): Json {
  const schemas = [one[key], other[key]].filter((schema) => schema !== undefined);
  const [a, b] = schemas.map((schema) => JSON.stringify(schema));
  if (schemas.length < 2 || a === b) return schemas.length === 0 ? {} : { [key]: schemas[0] };
  return { [key]: { anyOf: schemas } };
}

function mergeBy(a: Json, b: Json, merge: (one: Json, other: Json) => Json): Json {
  const merged: Json = { ...a };
  for (const [key, other] of Object.entries(b)) {
    const one = merged[key] as Json | undefined;
    merged[key] = one ? merge(one, other as Json) : other;
  }
  return merged;
}

function join(a: unknown, b: unknown): string | undefined {
  const descriptions = [...new Set([a, b])].filter((one) => typeof one === "string");
  return descriptions.length === 0 ? undefined : descriptions.join(" Or: ");
}

function list<T = Json>(value: unknown): readonly T[] {
  return Array.isArray(value) ? (value as T[]) : [];
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

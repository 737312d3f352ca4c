import type { Json } from "../contract/agent.ts";

/** True for a JSON object: neither null nor an array. Instances of classes are objects too. */
export function isRecord(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** An own member. An inherited one was not in the JSON. */
export function own(record: Json, key: string): unknown {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}

/** The value if it is a string, else undefined. */
export function asText(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

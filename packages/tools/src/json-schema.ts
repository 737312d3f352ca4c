import { validate } from "@cfworker/json-schema";
import type { Fault, Json } from "@holodeck/agui-core";
import { compileSchema } from "./json-schema-compile.ts";
import { describeFaults } from "./json-schema-faults.ts";
import { scanValue } from "./json-schema-value.ts";

export type JsonSchema = Json;

// A longer list does not help to correct them.
const maxFaults = 20;

/**
 * A validator for a plain JSON Schema (2020-12, without what `docs/tools.md` leaves out). Throws for a
 * schema that it cannot check in full: no value is let through because a keyword was not understood.
 */
export function createValidator(schema: JsonSchema): (value: unknown) => Fault[] {
  const compiled = compileSchema(schema);
  const { root, lookup, repeated } = compiled;
  const check = (value: unknown, isBrief: boolean) =>
    validate(value, root, "2020-12", lookup, isBrief);
  return (value) => {
    const fault = scanValue(value, repeated);
    if (fault) return [fault];
    try {
      if (check(value, true).valid) return [];
    } catch {
      // A schema that leads nowhere but to itself, or more faults than a stack holds.
      return [{ path: "", message: "is nested too deeply or too large to be checked" }];
    }
    return describeFaults(allFaults(check, value), value, compiled).slice(0, maxFaults);
  };
}

type Check = (value: unknown, isBrief: boolean) => ReturnType<typeof validate>;

// All of them at once; the first ones where there are more than a stack holds.
function allFaults(check: Check, value: unknown): ReturnType<typeof validate>["errors"] {
  try {
    return check(value, false).errors;
  } catch {
    return check(value, true).errors;
  }
}

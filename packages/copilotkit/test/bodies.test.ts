import { isAgentError } from "@holodeck/agui-core";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { checkBody } from "../src/bodies.ts";
import type { Bodies } from "../src/bodies.ts";
import { schemas } from "../src/schemas.ts";

const oddValues: readonly unknown[] = [
  undefined,
  null,
  5,
  0,
  1.5,
  101,
  "",
  " ",
  "x",
  " a name ",
  "GET",
  "true",
  "/threads",
  true,
  [],
  {},
  "x".repeat(201),
  "x".repeat(257),
  `/${"x".repeat(4096)}`,
  "50",
  "0x10",
  "a b",
];
const odd = fc.constantFrom(...oddValues);
const names: Readonly<Record<keyof Bodies, readonly string[]>> = {
  connect: ["threadId", "protocolVersion"],
  stop: ["runId"],
  envelope: ["method", "params", "body"],
  resource: ["path", "httpMethod"],
  change: ["name", "archived"],
  archive: ["agentId"],
  list: ["agentId", "includeArchived", "limit", "cursor"],
};

test.for(Object.keys(names) as (keyof Bodies)[])(
  "a body of %s is taken as its description for OpenAPI has it",
  (kind) => {
    const members = fc.record(Object.fromEntries(names[kind].map((name) => [name, odd])), {
      requiredKeys: [],
    });
    fc.assert(
      fc.property(fc.oneof({ weight: 20, arbitrary: members }, odd), (body) => {
        const { data, error } = schemas[kind].safeParse(body);
        try {
          expect(checkBody(kind, body)).toMatchObject(data as object);
          expect(error).toBeUndefined();
        } catch (thrown) {
          if (!isAgentError(thrown)) throw thrown;
          expect(error).toBeDefined();
          expect(new Set(thrown.errors?.map(({ path }) => path))).toEqual(
            new Set(error?.issues.map(({ path }) => path.join("."))),
          );
        }
      }),
      { numRuns: 1_000 },
    );
  },
);

import { expect, test } from "vitest";
import { held } from "../../../scripts/test-support/held.ts";
import { createAgentHandler } from "../src/index.ts";
import type { AgentHandler } from "../src/index.ts";
import { memoryLogger, post } from "./_helpers.ts";

const fail = (): never => {
  throw new Error("no identity");
};

/** What an `authenticate` may return that is no principal. */
const none: Readonly<Record<string, () => unknown>> = {
  "an empty object": () => ({}),
  "an empty id": () => ({ id: "" }),
  "a number as id": () => ({ id: 7 }),
  "NaN as id": () => ({ id: Number.NaN }),
  "a bigint as id": () => ({ id: 7n }),
  "a symbol as id": () => ({ id: Symbol("ann") }),
  "null as id": () => ({ id: null }),
  "an object as id": () => ({ id: { toString: () => "ann" } }),
  "a list as id": () => ({ id: ["ann"] }),
  "a boxed string as id": () => ({ id: new String("ann") }),
  "a promise as id": () => ({ id: Promise.resolve("ann") }),
  "an id that throws": () => Object.defineProperty({}, "id", { get: fail }),
  true: () => true,
  "a string": () => "ann",
  "a number": () => 7,
  "a list": () => ["ann"],
  "a function": () => () => ({ id: "ann" }),
  "a promise of true": async () => true,
  "a promise that rejects": async () => fail(),
  "a throw": fail,
};

/** Nobody is let in, and no thread is shared by those who have no id. */
async function admitted(authenticate: () => unknown): Promise<string | undefined> {
  let runs = 0;
  const logger = memoryLogger();
  const handler: AgentHandler = createAgentHandler(async () => `run ${++runs}`, {
    logger,
    authenticate: authenticate as never,
  });
  const response = await handler.fetch(post({ messages: [] }));
  const text = await response.text();
  const isLogged = logger.records.some(({ level }) => level === "error");
  if (response.status === 500 && runs === 0 && isLogged) return undefined;
  return `${response.status} ${text}`;
}

test("a caller without an id is refused, whatever authenticate returns", async () => {
  const through: string[] = [];
  for (const [name, authenticate] of Object.entries(none)) {
    const fault = await admitted(authenticate);
    if (fault !== undefined) through.push(`${name}: ${fault}`);
  }
  held("principals that are none", Object.keys(none).length, through);
});

test("a caller with an id is admitted", async () => {
  expect(await admitted(() => ({ id: "ann" }))).toContain("200");
});

import { readFile, writeFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { agentFileJsonSchema } from "../src/yaml/schema/schema.ts";

const file = new URL("../agent.schema.json", import.meta.url);
const command = "UPDATE_SCHEMA=1 npx vitest run packages/cli/test/yaml-schema.test.ts";

test("what editors get is what files are checked with", async () => {
  const made = JSON.parse(JSON.stringify(agentFileJsonSchema())) as unknown;
  if (process.env.UPDATE_SCHEMA) await writeFile(file, `${JSON.stringify(made, null, 2)}\n`);
  const published: unknown = JSON.parse(await readFile(file, "utf8"));
  expect(published, `agent.schema.json is out of date. Try: ${command}`).toEqual(made);
});

test("every field has a title and a description to show", () => {
  const bare: string[] = [];
  let count = 0;
  const visit = (schema: any, path: string): void => {
    if (typeof schema !== "object" || schema === null) return;
    for (const [name, one] of Object.entries<any>(schema.properties ?? {})) {
      count += 1;
      if (!one.title || !one.description) bare.push(`${path}/${name}`);
      visit(one, `${path}/${name}`);
    }
    visit(schema.items, `${path}[]`);
    for (const one of [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])]) visit(one, path);
  };
  visit(agentFileJsonSchema(), "");
  expect(bare).toEqual([]);
  expect(count).toBeGreaterThan(80);
});

test("nothing but what is known is allowed, so that editors mark a misspelt key", () => {
  const schema = agentFileJsonSchema() as any;
  expect(schema.$schema).toContain("draft-07");
  expect(schema.additionalProperties).toBe(false);
  expect(schema.required).toEqual(["name", "model", "instructions"]);
});

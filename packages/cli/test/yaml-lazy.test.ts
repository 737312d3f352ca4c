import { join } from "node:path";
import { expect, test } from "vitest";
import { packagesLoaded } from "../../../scripts/test-support/packages-loaded.ts";
import { folder } from "./yaml/_served.ts";

const heavy = /^(?:yaml|zod|ai|jiti|redis|pg|@ai-sdk\/.*|@modelcontextprotocol\/.*)$/;

test("nothing is loaded before it is needed, and of models only the one that is named", async () => {
  const file = join(
    await folder({ "agent.yaml": "name: a\nmodel: { provider: demo }\ninstructions: hi\n" }),
    "agent.yaml",
  );
  const index = new URL("../src/index.ts", import.meta.url).href;
  const steps = await packagesLoaded(
    `const { loadYamlAgent } = await import(${JSON.stringify(index)});`,
    `const { agent } = await loadYamlAgent(${JSON.stringify(file)}, {});`,
    "await agent.a.agent.ready();",
  );
  const [imported, loaded, ready] = steps.map((names) => names.filter((name) => heavy.test(name)));
  expect(imported).toEqual([]);
  expect(loaded).toEqual(["yaml", "zod"]);
  expect(ready).toContain("ai");
  expect(
    ready!.filter((name) => /^@ai-sdk\/(?:openai|anthropic|azure)|^@model/.test(name)),
  ).toEqual([]);
});

import { expect, test } from "vitest";
import { packagesLoaded } from "../../../scripts/test-support/packages-loaded.ts";

const entry = JSON.stringify(new URL("../src/index.ts", import.meta.url).href);

const post = (path: string, body: unknown): string => `
  await (await handler.fetch(new Request("http://localhost${path}", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: ${JSON.stringify(JSON.stringify(body))},
  }))).text();`;

const run = {
  threadId: "t",
  runId: "r",
  messages: [{ id: "m", role: "user", content: "hi" }],
  tools: [],
  context: [],
  state: {},
  forwardedProps: {},
};
const chat = {
  id: "c",
  trigger: "submit-message",
  messages: [{ id: "m", role: "user", parts: [{ type: "text", text: "hi" }] }],
};

test("a handler loads zod to describe itself for OpenAPI, not to start, to answer runs or to refuse a body", async () => {
  const [started, answered, refused, described] = await packagesLoaded(
    `const { createAgentHandler } = await import(${entry});
     const handler = createAgentHandler(async () => "hi");
     await handler.start();`,
    `${post("/agui", run)} ${post("/chat", chat)}`,
    post("/agui", { ...run, runId: "r2", tools: [{}] }),
    `await handler.openapi(); await handler.close();`,
  );
  expect(started).toContain("@ag-ui/core");
  expect(started).not.toContain("zod");
  expect(answered).not.toContain("zod");
  expect(refused).not.toContain("zod");
  expect(described).toContain("zod");
});

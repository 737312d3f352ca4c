import type { AgentFunction } from "@holodeck/agui-core";
import { expect, test } from "vitest";
import { openai } from "../src/index.ts";
import type { OpenAiOptions } from "../src/index.ts";
import { serveOpenAi } from "./_kit.ts";

const agent: AgentFunction = async function* () {
  yield "Hi";
};

test("models are the agents, with what clients show of them", async () => {
  const { get } = await serveOpenAi({
    helper: { agent, name: "Helper", description: "Helps." } as never,
    other: agent,
  });
  const response = await get("/models");
  expect(response.status).toBe(200);
  expect(await response.json()).toMatchObject({
    object: "list",
    data: [
      {
        id: "helper",
        object: "model",
        created: expect.any(Number) as number,
        owned_by: "holodeck-agui",
        name: "Helper",
        description: "Helps.",
      },
      { id: "other", object: "model" },
    ],
  });
});

test("a model is found by its id, and the default agent by default", async () => {
  const { get } = await serveOpenAi({ helper: agent, other: agent });
  expect(await (await get("/models/other")).json()).toMatchObject({ id: "other" });
  expect(await (await get("/models/default")).json()).toMatchObject({ id: "helper" });
});

test.for(["nobody", "__proto__", "constructor", "toString"])(
  "a model that does not exist is a 404: %s",
  async (id) => {
    const { get } = await serveOpenAi({ helper: agent });
    const response = await get(`/models/${id}`);
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({
      error: { type: "invalid_request_error", code: "model_not_found" },
    });
  },
);

test.for<[object, string]>([
  [{ paths: "/a" }, "paths is not an option of openai. Did you mean path?"],
  [{ path: "v1" }, 'openai({ path: "v1" }) must start with "/".'],
  [{ serverTools: "all" }, 'openai({ serverTools: "all" }) must be "reasoning" or "hidden".'],
  [{ instructions: 5 }, 'openai({ instructions: 5 }) must be "context" or "messages".'],
])("options that are not understood are refused: %j", ([options, message]) => {
  expect(() => openai(options as OpenAiOptions)).toThrow(message);
});

test("the base path is the host's choice", () => {
  const routes = openai({ path: "/api/openai/" }).routes(Object.create(null) as never);
  expect(routes.map(({ method, path }) => `${method} ${path}`)).toContain(
    "POST /api/openai/chat/completions",
  );
});

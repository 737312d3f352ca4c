import type { Json } from "@holodeck/agui-core";
import { describe, expect, test } from "vitest";
import { threads } from "../src/index.ts";
import type { ThreadsOptions } from "../src/index.ts";

interface Operation extends Json {
  readonly operationId: string;
  readonly requestBody?: { content: Record<string, { schema: Json }> };
  readonly responses: Record<string, { content?: Record<string, { schema: Json }> }>;
}

async function operations(options: ThreadsOptions = {}): Promise<Map<string, Operation>> {
  const found = new Map<string, Operation>();
  for (const { method, path, operation } of threads(options).routes({} as never)) {
    found.set(`${method} ${path}`, (await operation?.()) as Operation);
  }
  return found;
}

describe("an operation of OpenAPI", () => {
  test("is there for every route, each under its own name", async () => {
    const all = await operations({ path: ["/", "/v1"] });
    expect(all.size).toBe(12);
    const ids = [...all.values()].map(({ operationId }) => operationId);
    expect(new Set(ids).size).toBe(12);
    expect(ids.slice(0, 7)).toEqual([
      "threadsChat",
      "threadsList",
      "threadsGet",
      "threadsDelete",
      "threadsAbort",
      "threadsToolResult",
      "threadsChat2",
    ]);
    for (const operation of all.values()) {
      expect(operation).toMatchObject({ tags: ["threads"], summary: expect.any(String) });
      expect(JSON.parse(JSON.stringify(operation))).toEqual(operation);
      expect(JSON.stringify(operation)).not.toContain("$schema");
    }
  });

  test("describes for a chat what is checked, and both ways it is answered", async () => {
    const { requestBody, responses } = (await operations()).get("POST /chat")!;
    const { schema } = requestBody!.content["application/json"]!;
    expect(schema).toMatchObject({ type: "object", required: ["message"] });
    expect(schema.properties).toMatchObject({
      message: { type: "string", minLength: 1, maxLength: 10_000 },
      thread_id: { anyOf: [{ type: "string", format: "uuid" }, { type: "null" }] },
      stream: { type: "boolean", default: true },
      metadata: { type: "object", default: {} },
    });
    const { content } = responses["200"]!;
    expect(Object.keys(content!)).toEqual(["text/event-stream", "application/json"]);
    expect(content!["text/event-stream"]!.schema).toMatchObject({ type: "string" });
    const required = content!["application/json"]!.schema.required as string[];
    expect(required).toEqual(expect.arrayContaining(["thread_id", "content", "tool_calls"]));
  });

  test("describes what a tool's result must have", async () => {
    const { requestBody } = (await operations()).get("POST /tool_result")!;
    const { schema } = requestBody!.content["application/json"]!;
    expect(schema.required).toEqual(["execution_id", "execution_time_ms"]);
  });

  test("wants no UUID where any id is taken", async () => {
    const any = (await operations({ idFormat: "any" })).get("POST /chat");
    expect(JSON.stringify(any)).not.toContain("uuid");
  });

  test("describes which pages can be asked for", async () => {
    const list = (await operations()).get("GET /threads");
    expect(list).toMatchObject({
      parameters: [
        { name: "limit", in: "query", schema: { minimum: 1, maximum: 100, default: 20 } },
        { name: "cursor", in: "query" },
      ],
    });
  });
});

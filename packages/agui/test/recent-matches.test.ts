import { silentLogger } from "@holodeck/agui-core";
import type { Protocol } from "@holodeck/agui-core";
import { describe, expect, test } from "vitest";
import { createAgentHandler } from "@holodeck/agui";

/** Says what it was asked with. */
const mirror: Protocol = {
  name: "mirror",
  history: "server",
  routes: () =>
    (["GET", "DELETE"] as const).map((method) => ({
      method,
      path: "/things/:id",
      handle: (call) => ({ status: 200, body: { method, params: call.params } }),
    })),
};

function asking() {
  const handler = createAgentHandler(() => "hi", { logger: silentLogger, protocols: [mirror] });
  return async (path: string, method = "GET"): Promise<unknown> => {
    const answer = await handler.fetch(new Request(`http://test.local${path}`, { method }));
    return answer.ok ? answer.json() : answer.status;
  };
}

describe("a path with parameters that is asked for again", () => {
  test("means the same, by method and to the letter", async () => {
    const ask = asking();
    for (let round = 0; round < 2; round++) {
      for (const method of ["GET", "DELETE"]) {
        expect(await ask("/things/a%2Fb", method)).toEqual({ method, params: { id: "a/b" } });
        expect(await ask("/things/a/", method)).toEqual({ method, params: { id: "a" } });
      }
      expect(await ask("/things/a", "PATCH")).toBe(405);
      expect(await ask("/things/%zz")).toBe(400);
      expect(await ask("/things/a/b")).toBe(404);
    }
  });

  test("is still known after thousands of others", async () => {
    const ask = asking();
    for (let id = 0; id < 1_000; id++) {
      expect(await ask(`/things/${id}`)).toMatchObject({ params: { id: `${id}` } });
    }
    expect(await ask(`/things/${"x".repeat(500)}`)).toMatchObject({
      params: { id: "x".repeat(500) },
    });
    expect(await ask("/things/0")).toMatchObject({ params: { id: "0" } });
  });
});

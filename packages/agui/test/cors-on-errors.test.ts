import { serve } from "@holodeck/agui-node";
import { describe, expect, onTestFinished, test } from "vitest";
import { cors, createAgentHandler } from "../src/index.ts";
import type { AgentHandler } from "../src/index.ts";
import { memoryLogger } from "./_helpers.ts";

const origin = "https://app.example.com";

function createHandler(): AgentHandler {
  return createAgentHandler(
    async () => {
      throw new Error("no key-1");
    },
    {
      logger: memoryLogger(),
      middleware: [cors({ origins: [origin] })],
      authenticate: ({ headers }) => (headers.get("authorization") ? { id: "ann" } : null),
    },
  );
}

/** The two ways to be asked without a framework around. */
const doors: readonly {
  name: string;
  open: () => Promise<(request: Request) => Promise<Response>>;
}[] = [
  { name: "fetch", open: async () => createHandler().fetch },
  {
    name: "serve",
    async open() {
      const serving = await serve(createHandler(), { port: 0, signals: false });
      onTestFinished(() => serving.close());
      return (request) => {
        const { pathname, search } = new URL(request.url);
        return fetch(new Request(`${serving.url}${pathname}${search}`, request));
      };
    },
  },
];

interface Refused {
  readonly route: string;
  readonly status: number;
  readonly body?: string;
  readonly headers?: Record<string, string>;
}

const refusals: readonly Refused[] = [
  { route: "POST /chat", body: "{", status: 400 },
  { route: "GET /threads/%E0%A4%A", status: 400 },
  { route: "GET /agui/info", headers: { authorization: "" }, status: 401 },
  { route: "GET /no/such/page", status: 404 },
  { route: "GET /", status: 404 },
  { route: "POST /agent/nobody/chat", body: '{"message":"hi"}', status: 404 },
  { route: "GET /agui/threads/nobody/state", status: 404 },
  { route: "PUT /chat", body: "{}", status: 405 },
  { route: "POST /agui", body: "{}", headers: { "content-type": "text/plain" }, status: 415 },
  { route: "POST /agent/default/chat", body: '{"message":"hi"}', status: 500 },
];

describe.each(doors)("a page of another origin, over $name", ({ open }) => {
  test.for(refusals)("can read why $route is $status", async (refused) => {
    const { route, status, body, headers } = refused;
    const [method = "", path = ""] = route.split(" ");
    const ask = await open();
    const response = await ask(
      new Request(`http://test.local${path}`, {
        method,
        headers: {
          origin,
          authorization: "Bearer ann",
          "content-type": "application/json",
          ...headers,
        },
        ...(body === undefined ? {} : { body }),
      }),
    );
    const text = await response.text();
    expect(response.status, text).toBe(status);
    expect(response.headers.get("content-type")).toBe("application/problem+json");
    expect(response.headers.get("access-control-allow-origin")).toBe(origin);
    expect(JSON.parse(text)).toMatchObject({ status, instance: path });
    expect(text).not.toContain("key-1");
  });

  test("may ask for every route there is", async () => {
    const ask = await open();
    const { routes } = createHandler().info() as { routes: string[] };
    for (const route of routes) {
      const [method = "", path = ""] = route.split(" ");
      const response = await ask(
        new Request(`http://test.local${path.replaceAll(/:\w+/g, "x")}`, {
          method: "OPTIONS",
          headers: {
            origin,
            "access-control-request-method": method,
            "access-control-request-headers": "authorization,content-type",
          },
        }),
      );
      expect(response.status, route).toBe(204);
      expect(response.headers.get("access-control-allow-origin"), route).toBe(origin);
      expect(response.headers.get("access-control-allow-methods"), route).toContain(method);
    }
  });
});

describe("a body that no protocol at its place understands", () => {
  const post = async (body: unknown): Promise<string> => {
    const request = new Request("http://test.local/chat", {
      method: "POST",
      headers: { authorization: "Bearer ann", "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    const response = await createHandler().fetch(request);
    expect(response.status).toBe(400);
    return response.text();
  };

  test.for<[unknown, string]>([
    [{}, "message is missing; it must be a string"],
    [{ message: 5 }, "message must be a string"],
    [{ message: null }, "message must be a string"],
    [null, "The body must be an object"],
    [[], "The body must be an object"],
  ])("names what %j lacks", async ([body, message]) => {
    expect(await post(body)).toContain(message);
  });

  test.for([{ messages: null }, { messages: "hi" }, { prompt: 5 }])(
    "names the protocols that answer there, for %j",
    async (body) => {
      expect(await post(body)).toContain(
        "No protocol recognizes this body; POST /chat is served by vercel and threads.",
      );
    },
  );
});

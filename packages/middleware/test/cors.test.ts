import { createAgentHandler } from "@holodeck/agui";
import type { AgentHandlerOptions } from "@holodeck/agui";
import { AgentError, silentLogger } from "@holodeck/agui-core";
import type { AgentRequest } from "@holodeck/agui-core";
import { runInput } from "@holodeck/agui-testing";
import { describe, expect, test } from "vitest";
import { bearerAuth, cors } from "../src/index.ts";

const app = "https://app.example.com";

type Asking = Omit<RequestInit, "headers"> & { path?: string; headers?: Record<string, string> };

function send(
  middleware: NonNullable<AgentHandlerOptions["middleware"]>,
  init: Asking = {},
): Promise<Response> {
  const { headers, path = "/agui", ...rest } = init;
  const { fetch } = createAgentHandler(async () => "Hello", { middleware, logger: silentLogger });
  return fetch(
    new Request(`http://test.local${path}`, {
      method: "POST",
      headers: { origin: app, "content-type": "application/json", ...headers },
      ...(rest.method === "OPTIONS" ? {} : { body: JSON.stringify(runInput()) }),
      ...rest,
    }),
  );
}

const preflight: Asking = {
  method: "OPTIONS",
  headers: {
    "access-control-request-method": "POST",
    "access-control-request-headers": "content-type, authorization",
  },
};

function corsHeaders({ headers }: Response): Record<string, string> {
  const shown: Record<string, string> = {};
  headers.forEach((value, name) => {
    if (name.startsWith("access-control-") || name === "vary") shown[name] = value;
  });
  return shown;
}

describe("cors", () => {
  test("answers a preflight", async () => {
    const response = await send([cors({ origins: [app] })], preflight);
    expect(response.status).toBe(204);
    expect(corsHeaders(response)).toEqual({
      "access-control-allow-origin": app,
      "access-control-allow-methods": "GET, HEAD, POST, PUT, PATCH, DELETE",
      "access-control-allow-headers": "content-type, authorization",
      "access-control-max-age": "600",
      vary: "Origin, Access-Control-Request-Headers",
    });
  });

  test("answers a preflight before a token is asked for", async () => {
    const auth = bearerAuth({ verify: () => null });
    const response = await send([cors({ origins: [app] }), auth], preflight);
    expect([response.status, response.headers.get("access-control-allow-origin")]).toEqual([
      204,
      app,
    ]);
  });

  test("lets a stream be read, with the headers that clients need", async () => {
    const response = await send([cors({ origins: [app], credentials: true })]);
    expect(await response.text()).toContain("RUN_FINISHED");
    expect(corsHeaders(response)).toEqual({
      "access-control-allow-origin": app,
      "access-control-allow-credentials": "true",
      "access-control-expose-headers": expect.stringMatching(
        /X-Request-Id, X-Run-Id, .*Retry-After, RateLimit, RateLimit-Policy/,
      ),
      vary: "Origin",
    });
  });

  test.for<[string, number, NonNullable<AgentHandlerOptions["middleware"]>, Asking]>([
    ["a wrong body", 400, [], { body: "{" }],
    ["a wrong method", 405, [], { method: "PUT" }],
    ["a wrong path", 400, [], { path: "/agui/runs/%zz/stop" }],
    ["a missing token", 401, [bearerAuth({ verify: () => null })], {}],
    [
      "a limit",
      429,
      [
        {
          name: "full",
          admit() {
            throw new AgentError("rate-limited", "Later.", { retryAfter: 1 });
          },
        },
      ],
      {},
    ],
    [
      "a failing middleware",
      500,
      [
        {
          name: "broken",
          request() {
            throw new Error("secret");
          },
        },
      ],
      {},
    ],
  ])("lets the refusal of %s be read", async ([, status, inner, init]) => {
    const response = await send([cors({ origins: [app] }), ...inner], init);
    expect(response.status).toBe(status);
    expect(corsHeaders(response)).toMatchObject({ "access-control-allow-origin": app });
  });

  test.each(["https://evil.test", `${app}.evil.test`, "http://app.example.com", "null"])(
    "grants nothing to %s",
    async (origin) => {
      const response = await send([cors({ origins: [app] })], { headers: { origin } });
      expect(corsHeaders(response)).toEqual({ vary: "Origin" });
      const asked = await send([cors({ origins: [app] })], {
        ...preflight,
        headers: { ...preflight.headers, origin },
      });
      expect(corsHeaders(asked)).toEqual({ vary: "Origin, Access-Control-Request-Headers" });
    },
  );

  test("takes a rule, which is never asked about null", async () => {
    const middleware = [cors({ origins: () => true })];
    const granted = async (origin: string): Promise<string | null> =>
      (await send(middleware, { headers: { origin } })).headers.get("access-control-allow-origin");
    expect([await granted("https://x.test"), await granted("null")]).toEqual([
      "https://x.test",
      null,
    ]);
  });

  test("grants nothing to the promise of a rule", async () => {
    const rule = (async () => false) as unknown as () => boolean;
    expect(corsHeaders(await send([cors({ origins: rule })]))).toEqual({ vary: "Origin" });
  });

  test("takes origins with commas between them", async () => {
    const response = await send([cors({ origins: `http://localhost:3000, ${app}` })]);
    expect(response.headers.get("access-control-allow-origin")).toBe(app);
  });

  test("sends * to every origin, without credentials and without Vary", async () => {
    const response = await send([cors({ origins: "*" })]);
    expect(response.headers.get("access-control-allow-origin")).toBe("*");
    expect(corsHeaders(response)).not.toHaveProperty("vary");
    expect(corsHeaders(response)).not.toHaveProperty("access-control-allow-credentials");
  });

  test("keeps what an answer varies by already", async () => {
    const varied = {
      name: "varied",
      request: async () => ({ status: 200, headers: { Vary: "Accept" }, body: "" }),
    };
    const response = await send([cors({ origins: [app] }), varied]);
    expect(response.headers.get("vary")).toBe("Accept, Origin");
  });

  test("repeats only names of what a browser asks for", async () => {
    const { request } = cors({ origins: [app] });
    const asking = {
      method: "OPTIONS",
      headers: {
        has: () => true,
        get: (name: string) => (name === "origin" ? app : "x-ok, a b, x\r\nset-cookie: s, y:1"),
      },
    } as unknown as AgentRequest;
    const reply = await request(asking, () => Promise.reject(new Error("not reached")));
    expect(reply.headers?.["access-control-allow-headers"]).toBe("x-ok");
  });

  test("leaves an OPTIONS request that is no preflight to the handler", async () => {
    const response = await send([cors({ origins: [app] })], { method: "OPTIONS" });
    expect([response.status, response.headers.get("allow")]).toEqual([
      204,
      "POST, GET, HEAD, OPTIONS",
    ]);
  });

  test.for<[object, string]>([
    [{ origins: "*", credentials: true }, 'cannot pair origins "*" with credentials'],
    [{ origins: [app, "*"], credentials: true }, 'cannot pair origins "*" with credentials'],
    [{}, "cors's origins must be"],
    [{ origins: [] }, "an empty list"],
    [{ origins: [`${app}/`] }, 'not "https://app.example.com/"'],
    [{ origins: ["https://*.example.com"] }, "For a pattern, pass a function"],
    [{ origins: ["null"] }, 'not "null"'],
    [{ origins: ["app.example.com"] }, 'not "app.example.com"'],
    [{ origin: app }, "Did you mean origins?"],
    [{ origins: "*", exposeHeaders: ["a b"] }, "cors's exposeHeaders must be a list of names"],
    [{ origins: "*", methods: "GET" }, "cors's methods must be a list of names"],
    [{ origins: "*", maxAgeSeconds: "1" }, "cors's maxAgeSeconds must be a number of seconds"],
  ])("refuses %j", ([options, message]) => {
    expect(() => cors(options as never)).toThrow(message);
  });
});

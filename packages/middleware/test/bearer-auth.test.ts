import { createAgentHandler } from "@holodeck/agui";
import type { AgentHandlerOptions } from "@holodeck/agui";
import { AgentError, silentLogger } from "@holodeck/agui-core";
import { runInput } from "@holodeck/agui-testing";
import { describe, expect, test } from "vitest";
import { bearerAuth, safeEqual } from "../src/index.ts";

const verify = (token: string): { id: string } | null =>
  safeEqual(token, "s3cret-token") ? { id: "ada" } : null;

async function ask(
  options: Partial<AgentHandlerOptions>,
  authorization?: string,
): Promise<{ status: number; challenge: string | null; text: string }> {
  const { fetch } = createAgentHandler(async (_, { principal }) => `I know ${principal?.id}.`, {
    logger: silentLogger,
    ...options,
  });
  const response = await fetch(
    new Request("http://test.local/agui", {
      method: "POST",
      headers: {
        "content-type": "application/json",
        ...(authorization !== undefined && { authorization }),
      },
      body: JSON.stringify(runInput()),
    }),
  );
  const challenge = response.headers.get("www-authenticate");
  return { status: response.status, challenge, text: await response.text() };
}

describe("bearerAuth", () => {
  test("passes the owner of the token to the agent", async () => {
    const middleware = [bearerAuth({ verify })];
    expect(await ask({ middleware }, "Bearer s3cret-token")).toMatchObject({
      status: 200,
      text: expect.stringContaining("I know ada."),
    });
  });

  test("serves as the handler's option too", async () => {
    const { authenticate } = bearerAuth({ verify });
    expect(await ask({ authenticate }, "bearer  s3cret-token ")).toMatchObject({
      status: 200,
      text: expect.stringContaining("I know ada."),
    });
    expect(await ask({ authenticate })).toMatchObject({ status: 401, challenge: "Bearer" });
  });

  test.for<[string, string | undefined, string]>([
    ["no token", undefined, 'Bearer realm="agents"'],
    ["another scheme", "Basic YTpi", 'Bearer realm="agents"'],
    ["a wrong token", "Bearer s3cret-tokem", 'Bearer realm="agents", error="invalid_token"'],
    ["an empty token", "Bearer ", 'Bearer realm="agents", error="invalid_token"'],
    ["two tokens", "Bearer s3cret-token x", 'Bearer realm="agents", error="invalid_token"'],
  ])("refuses %s with 401 and a challenge", async ([, authorization, challenge]) => {
    const answer = await ask(
      { middleware: [bearerAuth({ verify, realm: "agents" })] },
      authorization,
    );
    expect(answer).toMatchObject({ status: 401, challenge });
    expect(JSON.parse(answer.text)).toMatchObject({ code: "authentication-required" });
  });

  test("keeps what verify throws to the server", async () => {
    const broken = bearerAuth({
      verify: () => {
        throw new Error("connect postgres://user:pw@db");
      },
    });
    const answer = await ask({ middleware: [broken] }, "Bearer abc");
    expect(answer.status).toBe(500);
    expect(answer.text).not.toContain("postgres");
  });

  test("passes on a refusal in verify's own words", async () => {
    const blocked = bearerAuth({
      verify: () => {
        throw new AgentError("forbidden", "This account is closed.");
      },
    });
    const answer = await ask({ middleware: [blocked] }, "Bearer abc");
    expect(answer.status).toBe(403);
    expect(answer.text).toContain("This account is closed.");
  });

  test("alone decides who is asking", () => {
    const auth = bearerAuth({ verify });
    const { authenticate } = auth;
    expect(() => createAgentHandler(async () => "", { authenticate, middleware: [auth] })).toThrow(
      "Only one of these may authenticate requests: authenticate, bearerAuth.",
    );
    expect(() => createAgentHandler(async () => "", { middleware: [auth, auth] })).toThrow(
      "authenticate requests: bearerAuth, bearerAuth.",
    );
  });

  test.for<[unknown, string]>([
    [{}, "bearerAuth expects { verify: (token) => ({ id }) or null }, not undefined."],
    [{ verify: "token" }, 'not "token".'],
    [{ verify, realm: 'a"b' }, "realm must be plain text without quotes"],
    [{ verfy: verify }, "Did you mean verify?"],
  ])("refuses %j", ([options, message]) => {
    expect(() => bearerAuth(options as never)).toThrow(message);
  });
});

describe("safeEqual", () => {
  test.for<[string, string, boolean]>([
    ["abc", "abc", true],
    ["", "", true],
    ["abc", "abd", false],
    ["abc", "ab", false],
    ["ab", "abc", false],
    ["", "abc", false],
    ["abc", "", false],
    ["abab", "ab", false],
    ["\0", "", false],
    ["é", "é", true],
    ["é", "e", false],
  ])("compares %j with %j", ([guess, secret, expected]) => {
    expect(safeEqual(guess, secret)).toBe(expected);
  });

  test("reads the whole guess, whether it is wrong early or late", () => {
    const secret = "a".repeat(64);
    const reads = (guess: string): number => {
      let count = 0;
      const original = TextEncoder.prototype.encode;
      TextEncoder.prototype.encode = function (text) {
        const bytes = original.call(this, text);
        return new Proxy(bytes, {
          get(target, key) {
            if (typeof key === "string" && /^\d+$/.test(key)) count++;
            return Reflect.get(target, key, target) as unknown;
          },
        });
      };
      try {
        safeEqual(guess, secret);
      } finally {
        TextEncoder.prototype.encode = original;
      }
      return count;
    };
    expect(reads(`b${"a".repeat(63)}`)).toBe(reads(`${"a".repeat(63)}b`));
    expect(reads("a".repeat(64))).toBe(reads("b".repeat(64)));
  });

  test("compares nothing but strings", () => {
    expect(() => safeEqual(undefined as never, "a")).toThrow("safeEqual compares two strings.");
  });
});

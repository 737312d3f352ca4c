import type { Exchange } from "@holodeck/agui-core";
import { describe, expect, test } from "vitest";
import { bodyOf, deferred, readAnswerText, replyText } from "./_binding-bench.ts";
import { readToEnd } from "./_binding-client.ts";
import type { BindingKit } from "./_binding-kit.ts";

/** `readAll` and `respond`, which a binding may leave out: they do what `body` and `reply` do. */
export function testBindingInOnePiece(kit: BindingKit): void {
  async function has(member: "readAll" | "respond"): Promise<boolean> {
    const path = kit.bench.route((exchange) => {
      replyText(exchange, 200, String(exchange[member] !== undefined));
    });
    return (await readAnswerText(await kit.bench.get(path))) === "true";
  }

  describe("a body in one piece, where the binding has `readAll`", () => {
    const maxBytes = 200_000;
    const headers = { "content-type": "application/octet-stream" };

    async function send(size: number, method = "POST"): Promise<Uint8Array | undefined> {
      const received = deferred<Uint8Array | undefined>();
      const path = kit.bench.route(async (exchange) => {
        const bytes = await exchange.readAll!(maxBytes);
        received.resolve(bytes);
        replyText(exchange, bytes ? 200 : 413, "read");
      });
      const body = size === 0 ? {} : { body: bytesOf(size), headers };
      await readToEnd(await kit.bench.send({ path, method, ...body }).answer);
      return received.promise;
    }

    test("is what was sent", async ({ skip }) => {
      skip(!(await has("readAll")), "This binding has no readAll.");
      for (const size of [1, maxBytes - 1, maxBytes]) {
        expect(Buffer.from(bytesOf(size)).equals((await send(size))!)).toBe(true);
      }
    });

    test("is undefined when it is larger than allowed, and the server goes on", async ({
      skip,
    }) => {
      skip(!(await has("readAll")), "This binding has no readAll.");
      for (const size of [maxBytes + 1, 5 * maxBytes]) expect(await send(size)).toBeUndefined();
      await kit.bench.ping();
    });

    test("is empty when none was sent", async ({ skip }) => {
      skip(!(await has("readAll")), "This binding has no readAll.");
      expect((await send(0))?.byteLength).toBe(0);
      expect((await send(0, "GET"))?.byteLength).toBe(0);
    });
  });

  describe("an answer in one piece, where the binding has `respond`", () => {
    const headers = { "content-type": "text/plain; charset=utf-8", "x-out": 'a, b; c="d"' };

    function answering(body: string | Uint8Array, status = 200): string {
      return kit.bench.route(async (exchange: Exchange) => {
        await bodyOf(exchange);
        exchange.respond!(status, headers, body);
      });
    }

    test.for([
      ["nothing", ""],
      ["plain text", "hello"],
      ["other text", "hällo € 😀"],
      ["a long text", "ü".repeat(100_000)],
      ["bytes", bytesOf(100_000)],
    ] as const)("is %s, with status and headers", async ([, body], { skip }) => {
      skip(!(await has("respond")), "This binding has no respond.");
      const answer = await kit.bench.get(answering(body, 418));
      expect(answer.status).toBe(418);
      expect(answer.header("x-out")).toBe(headers["x-out"]);
      expect(Buffer.from(body as string).equals(await readToEnd(answer))).toBe(true);
      await kit.bench.ping();
    });

    test("has no body when HEAD asked for it, nor with status 204", async ({ skip }) => {
      skip(!(await has("respond")), "This binding has no respond.");
      const head = await kit.bench.send({ path: answering("hello"), method: "HEAD" }).answer;
      expect([head.status, await readAnswerText(head)]).toEqual([200, ""]);
      const empty = await kit.bench.get(answering("not sent", 204));
      expect([empty.status, await readAnswerText(empty)]).toEqual([204, ""]);
      await kit.bench.ping();
    });

    test("never carries a header that hides a second one", async ({ skip }) => {
      skip(!(await has("respond")), "This binding has no respond.");
      const path = kit.bench.route((exchange) => {
        exchange.respond!(200, { "x-out": "a\r\nset-cookie: b" }, "hello");
      });
      const answer = await kit.bench.get(path);
      expect(answer.status).toBe(500);
      expect(answer.header("set-cookie")).toBeUndefined();
      await readToEnd(answer);
      await kit.bench.ping();
    });
  });
}

function bytesOf(size: number): Uint8Array {
  return Uint8Array.from({ length: size }, (_, index) => (index * 7) % 251);
}

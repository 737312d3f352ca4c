import { describe, expect, test } from "vitest";
import { bodyOf, readAnswerText, replyText } from "./_binding-bench.ts";
import { readToEnd } from "./_binding-client.ts";
import { mebibyte } from "./_binding-kit.ts";
import type { BindingKit } from "./_binding-kit.ts";

/** What a handler sees of a request. */
export function testBindingRequests(kit: BindingKit): void {
  describe("a request", () => {
    test("shows the path after the mount, still encoded, and the whole URL", async () => {
      const path = kit.bench.route((exchange) => {
        const { method, url } = exchange.request;
        replyText(
          exchange,
          200,
          JSON.stringify({ method, path: url.pathname, query: [exchange.query, url.search] }),
        );
      }, "/a%2Fb%20c/%C3%BC");
      const answer = await kit.bench.get(`${path}?x=1&y=%20`);
      expect(JSON.parse(await readAnswerText(answer))).toEqual({
        method: "GET",
        path: kit.bench.prefix + path,
        query: ["?x=1&y=%20", "?x=1&y=%20"],
      });
    });

    test("has an empty query when none was sent", async () => {
      const path = kit.bench.route((exchange) => {
        replyText(exchange, 200, JSON.stringify([exchange.query, exchange.request.url.search]));
      });
      expect(await readAnswerText(await kit.bench.get(path))).toBe('["",""]');
    });

    test("shows its headers", async () => {
      const path = kit.bench.route((exchange) => {
        const seen = [exchange.header("x-in"), exchange.request.headers.get("X-In")];
        replyText(exchange, 200, JSON.stringify([...seen, exchange.header("x-none") ?? null]));
      });
      const value = 'a, b; c="d"';
      const { answer } = kit.bench.send({ path, headers: { "x-in": value } });
      expect(JSON.parse(await readAnswerText(await answer))).toEqual([value, value, null]);
    });

    test("brings a body of 1 MiB byte by byte", async () => {
      const sent = Buffer.from(crypto.getRandomValues(new Uint8Array(65_536)).buffer);
      const body = Buffer.concat(Array.from({ length: 16 }, () => sent));
      const path = kit.bench.route(async (exchange) => {
        const received = await bodyOf(exchange);
        const sink = exchange.reply(200, { "content-type": "application/octet-stream" });
        sink.write(received);
        sink.end();
      });
      const headers = { "content-type": "application/octet-stream" };
      const answer = await kit.bench.send({ path, method: "POST", headers, body }).answer;
      expect(body.equals(await readToEnd(answer))).toBe(true);
    });

    test("keeps characters whole that arrive in two pieces", async () => {
      const euro = Buffer.from("€uro");
      const path = kit.bench.route(async (exchange) => {
        replyText(exchange, 200, (await bodyOf(exchange)).toString("utf8"));
      });
      async function* halves(): AsyncGenerator<Uint8Array> {
        yield euro.subarray(0, 1);
        await kit.bench.ping();
        yield euro.subarray(1);
      }
      const headers = { "content-type": "text/plain" };
      const { answer } = kit.bench.send({ path, method: "POST", headers, body: halves() });
      expect(await readAnswerText(await answer)).toBe("€uro");
    });

    test.for([
      ["an object", { message: "hällo", list: [1, { two: null }] }],
      ["an empty object", {}],
    ])("brings %s as JSON, whether a parser was here first or not", async ([, value]) => {
      const path = kit.bench.route(async (exchange) => {
        const given = exchange.parsedBody ?? JSON.parse((await bodyOf(exchange)).toString("utf8"));
        replyText(exchange, 200, JSON.stringify(given));
      });
      const headers = { "content-type": "application/json" };
      const body = Buffer.from(JSON.stringify(value));
      const { answer } = kit.bench.send({ path, method: "POST", headers, body });
      expect(JSON.parse(await readAnswerText(await answer))).toEqual(value);
    });

    test("has an empty body when none was sent", async () => {
      const path = kit.bench.route(async (exchange) => {
        const size = (await bodyOf(exchange)).byteLength;
        replyText(exchange, 200, JSON.stringify([size, exchange.parsedBody ?? null]));
      });
      const { answer } = kit.bench.send({ path, method: "POST" });
      expect(await readAnswerText(await answer)).toBe("[0,null]");
    });

    test("may be refused in the middle of a 50 MiB upload", async () => {
      let read = 0;
      const path = kit.bench.route(async (exchange) => {
        for await (const part of exchange.body()) {
          read += part.byteLength;
          if (read > mebibyte) break;
        }
        replyText(exchange, 413, "too large");
      });
      async function* upload(): AsyncGenerator<Uint8Array> {
        const part = new Uint8Array(64 * 1024);
        for (let sent = 0; sent < 50 * mebibyte; sent += part.byteLength) yield part;
      }
      const headers = { "content-type": "application/octet-stream" };
      const answer = await kit.bench.send({ path, method: "POST", headers, body: upload() }).answer;
      expect(answer.status).toBe(413);
      expect(await readAnswerText(answer)).toBe("too large");
      expect(read).toBeLessThan(2 * mebibyte);
      await kit.bench.ping();
    });
  });
}

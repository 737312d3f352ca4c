import { describe, expect, test } from "vitest";
import { deferred, readAnswerText, readUntil } from "./_binding-bench.ts";
import { readToEnd } from "./_binding-client.ts";
import type { BindingKit } from "./_binding-kit.ts";

/** What a client receives. */
export function testBindingResponses(kit: BindingKit): void {
  describe("an answer", () => {
    test("carries its status and headers", async () => {
      const path = kit.bench.route((exchange) => {
        exchange.reply(418, { "content-type": "text/x-tea", "x-out": 'a, b; c="d"' }).end();
      });
      const answer = await kit.bench.get(path);
      expect(answer.status).toBe(418);
      expect(answer.header("content-type")).toBe("text/x-tea");
      expect(answer.header("x-out")).toBe('a, b; c="d"');
      expect(await readAnswerText(answer)).toBe("");
    });

    test("never carries a header that hides a second one", async () => {
      const path = kit.bench.route((exchange) => {
        exchange.reply(200, { "x-out": "a\r\nset-cookie: b" }).end();
      });
      const answer = await kit.bench.get(path);
      expect(answer.status).toBe(500);
      expect(answer.header("set-cookie")).toBeUndefined();
      await readToEnd(answer);
      await kit.bench.ping();
    });

    test("shows its head before the first byte of its body exists", async () => {
      const seen = deferred();
      const path = kit.bench.route(async (exchange) => {
        const sink = exchange.reply(200, { "content-type": "text/event-stream" });
        await seen.promise;
        sink.write("body");
        sink.end();
      });
      const answer = await kit.bench.get(path);
      seen.resolve();
      expect(await readAnswerText(answer)).toBe("body");
    });

    test("shows every write before the next one is made", async () => {
      const steps = Array.from({ length: 20 }, () => deferred());
      const path = kit.bench.route(async (exchange) => {
        const sink = exchange.reply(200, { "content-type": "text/event-stream" });
        for (const [index, step] of steps.entries()) {
          sink.write(`data: ${index}\n\n`);
          await step.promise;
        }
        sink.end();
      });
      const answer = await kit.bench.get(path);
      let text = "";
      for (const [index, step] of steps.entries()) {
        text = await readUntil(answer, text, `data: ${index}\n\n`);
        step.resolve();
      }
      expect(await answer.read()).toBeUndefined();
    });

    test("keeps characters whole that were written in two pieces", async () => {
      const euro = Buffer.from("€");
      const path = kit.bench.route((exchange) => {
        const sink = exchange.reply(200, { "content-type": "text/event-stream" });
        sink.write("1 ");
        sink.write(euro.subarray(0, 2));
        sink.write(euro.subarray(2));
        sink.write(" ünd 😀");
        sink.end();
      });
      expect(await readAnswerText(await kit.bench.get(path))).toBe("1 € ünd 😀");
    });

    test("reaches a hundred clients at once", async () => {
      const allPresent = deferred();
      let present = 0;
      const path = kit.bench.route(async (exchange) => {
        const sink = exchange.reply(200, { "content-type": "text/event-stream" });
        const id = exchange.header("x-client");
        if (++present === 100) allPresent.resolve();
        await allPresent.promise;
        for (let index = 0; index < 10; index++) {
          sink.write(`${id}:${index} `);
          await Promise.resolve();
        }
        sink.end();
      });
      const texts = await Promise.all(
        Array.from({ length: 100 }, async (_, id) => {
          const headers = { "x-client": String(id) };
          return readAnswerText(await kit.bench.send({ path, headers }).answer);
        }),
      );
      const counts = Array.from({ length: 10 }, (_, index) => index);
      expect(texts).toEqual(
        texts.map((_, id) => counts.map((index) => `${id}:${index} `).join("")),
      );
    });

    test("has no body when HEAD asked for it", async () => {
      const path = kit.bench.route((exchange) => {
        expect(exchange.method).toBe("HEAD");
        const sink = exchange.reply(200, { "content-type": "text/plain", "content-length": "5" });
        expect(sink.write("hello")).toBe(true);
        sink.end();
      });
      const answer = await kit.bench.send({ path, method: "HEAD" }).answer;
      expect(answer.status).toBe(200);
      expect(answer.header("content-type")).toBe("text/plain");
      expect(await answer.read()).toBeUndefined();
      await kit.bench.ping();
    });

    test.for([204, 304])("has no body with status %i", async (status) => {
      const path = kit.bench.route((exchange) => {
        const sink = exchange.reply(status, { etag: '"1"' });
        sink.write("not sent");
        sink.end();
      });
      const answer = await kit.bench.get(path);
      expect(answer.status).toBe(status);
      expect(answer.header("etag")).toBe('"1"');
      expect(await answer.read()).toBeUndefined();
      await kit.bench.ping();
    });

    test("can be given to OPTIONS", async () => {
      const path = kit.bench.route((exchange) => {
        exchange.reply(204, { allow: `${exchange.method}, POST` }).end();
      });
      const answer = await kit.bench.send({ path, method: "OPTIONS" }).answer;
      expect([answer.status, answer.header("allow")]).toEqual([204, "OPTIONS, POST"]);
    });
  });
}

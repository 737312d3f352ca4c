/**
 * Longer than our usual file on purpose: the list of cases is the contract of a binding, on one page.
 */
import type { ExchangeHandler, Sink } from "@holodeck/agui-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  bodyOf,
  createBindingBench,
  deferred,
  flood,
  readAnswerText,
  replyText,
} from "./_binding-bench.ts";
import type { BindingBench, Flood } from "./_binding-bench.ts";
import { endingOf, readAll } from "./_binding-client.ts";
import type { ClientAnswer } from "./_binding-client.ts";

/** A binding that serves the suite's handler. */
export interface MountedBinding {
  /** Where the handler's root is, mount prefix included. */
  readonly url: string;
  close(): Promise<void>;
  /** The server speaks HTTP/2 without TLS. By default HTTP/1.1. */
  readonly http2?: boolean;
  /** For bindings without a socket: is called instead of the network. */
  readonly fetch?: (request: Request) => Promise<Response>;
  /** Sent with every request, such as `accept-encoding` behind a compressing middleware. */
  readonly headers?: Readonly<Record<string, string>>;
}

export type MountBinding = (handler: ExchangeHandler) => Promise<MountedBinding>;

export interface TestBindingOptions {
  /** Whether the binding answers a failed handler itself or leaves that to its host. @default "problem" */
  errors?: "problem" | "host";
}

const mebibyte = 1024 * 1024;

/**
 * Proves that a binding carries requests and answers as the contract of `Exchange` and `Sink` says.
 *
 * @example
 * ```ts
 * testBinding("my server", async (handler) => {
 *   const server = await listen(toMyHandler(handler));
 *   return { url: server.url, close: () => server.close() };
 * });
 * ```
 */
export function testBinding(
  name: string,
  mount: MountBinding,
  options: TestBindingOptions = {},
): void {
  const { errors = "problem" } = options;
  let bench: BindingBench;

  // What is held back for ever shows as a timeout; a busy machine must not look like that.
  describe(`binding: ${name}`, { timeout: 120_000 }, () => {
    beforeAll(async () => {
      bench = await createBindingBench(mount);
    });
    afterAll(() => bench.close());

    describe("a request", () => {
      test("shows the path after the mount, still encoded, and the whole URL", async () => {
        const path = bench.route((exchange) => {
          const { method, url } = exchange.request;
          replyText(
            exchange,
            200,
            JSON.stringify({ method, path: url.pathname, query: url.search }),
          );
        }, "/a%2Fb%20c/%C3%BC");
        const answer = await bench.get(`${path}?x=1&y=%20`);
        expect(JSON.parse(await readAnswerText(answer))).toEqual({
          method: "GET",
          path: bench.prefix + path,
          query: "?x=1&y=%20",
        });
      });

      test("shows its headers", async () => {
        const path = bench.route((exchange) => {
          const seen = [exchange.header("x-in"), exchange.request.headers.get("X-In")];
          replyText(exchange, 200, JSON.stringify([...seen, exchange.header("x-none") ?? null]));
        });
        const value = 'a, b; c="d"';
        const { answer } = bench.send({ path, headers: { "x-in": value } });
        expect(JSON.parse(await readAnswerText(await answer))).toEqual([value, value, null]);
      });

      test("brings a body of 1 MiB byte by byte", async () => {
        const sent = Buffer.from(crypto.getRandomValues(new Uint8Array(65_536)).buffer);
        const body = Buffer.concat(Array.from({ length: 16 }, () => sent));
        const path = bench.route(async (exchange) => {
          const received = await bodyOf(exchange);
          const sink = exchange.reply(200, { "content-type": "application/octet-stream" });
          sink.write(received);
          sink.end();
        });
        const headers = { "content-type": "application/octet-stream" };
        const answer = await bench.send({ path, method: "POST", headers, body }).answer;
        expect(body.equals(await readAll(answer))).toBe(true);
      });

      test("keeps characters whole that arrive in two pieces", async () => {
        const euro = Buffer.from("€uro");
        const path = bench.route(async (exchange) => {
          replyText(exchange, 200, (await bodyOf(exchange)).toString("utf8"));
        });
        async function* halves(): AsyncGenerator<Uint8Array> {
          yield euro.subarray(0, 1);
          await bench.ping();
          yield euro.subarray(1);
        }
        const headers = { "content-type": "text/plain" };
        const { answer } = bench.send({ path, method: "POST", headers, body: halves() });
        expect(await readAnswerText(await answer)).toBe("€uro");
      });

      test.for([
        ["an object", { message: "hällo", list: [1, { two: null }] }],
        ["an empty object", {}],
      ])("brings %s as JSON, whether a parser was here first or not", async ([, value]) => {
        const path = bench.route(async (exchange) => {
          const given =
            exchange.parsedBody ?? JSON.parse((await bodyOf(exchange)).toString("utf8"));
          replyText(exchange, 200, JSON.stringify(given));
        });
        const headers = { "content-type": "application/json" };
        const body = Buffer.from(JSON.stringify(value));
        const { answer } = bench.send({ path, method: "POST", headers, body });
        expect(JSON.parse(await readAnswerText(await answer))).toEqual(value);
      });

      test("has an empty body when none was sent", async () => {
        const path = bench.route(async (exchange) => {
          const size = (await bodyOf(exchange)).byteLength;
          replyText(exchange, 200, JSON.stringify([size, exchange.parsedBody ?? null]));
        });
        const { answer } = bench.send({ path, method: "POST" });
        expect(await readAnswerText(await answer)).toBe("[0,null]");
      });

      test("may be refused in the middle of a 50 MiB upload", async () => {
        let read = 0;
        const path = bench.route(async (exchange) => {
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
        const answer = await bench.send({ path, method: "POST", headers, body: upload() }).answer;
        expect(answer.status).toBe(413);
        expect(await readAnswerText(answer)).toBe("too large");
        expect(read).toBeLessThan(2 * mebibyte);
        await bench.ping();
      });
    });

    describe("an answer", () => {
      test("carries its status and headers", async () => {
        const path = bench.route((exchange) => {
          exchange.reply(418, { "content-type": "text/x-tea", "x-out": 'a, b; c="d"' }).end();
        });
        const answer = await bench.get(path);
        expect(answer.status).toBe(418);
        expect(answer.header("content-type")).toBe("text/x-tea");
        expect(answer.header("x-out")).toBe('a, b; c="d"');
        expect(await readAnswerText(answer)).toBe("");
      });

      test("never carries a header that hides a second one", async () => {
        const path = bench.route((exchange) => {
          exchange.reply(200, { "x-out": "a\r\nset-cookie: b" }).end();
        });
        const answer = await bench.get(path);
        expect(answer.status).toBe(500);
        expect(answer.header("set-cookie")).toBeUndefined();
        await readAll(answer);
        await bench.ping();
      });

      test("shows its head before the first byte of its body exists", async () => {
        const seen = deferred();
        const path = bench.route(async (exchange) => {
          const sink = exchange.reply(200, { "content-type": "text/event-stream" });
          await seen.promise;
          sink.write("body");
          sink.end();
        });
        const answer = await bench.get(path);
        seen.resolve();
        expect(await readAnswerText(answer)).toBe("body");
      });

      test("shows every write before the next one is made", async () => {
        const steps = Array.from({ length: 20 }, () => deferred());
        const path = bench.route(async (exchange) => {
          const sink = exchange.reply(200, { "content-type": "text/event-stream" });
          for (const [index, step] of steps.entries()) {
            sink.write(`data: ${index}\n\n`);
            await step.promise;
          }
          sink.end();
        });
        const answer = await bench.get(path);
        let text = "";
        for (const [index, step] of steps.entries()) {
          text = await readUntil(answer, text, `data: ${index}\n\n`);
          step.resolve();
        }
        expect(await answer.read()).toBeUndefined();
      });

      test("keeps characters whole that were written in two pieces", async () => {
        const euro = Buffer.from("€");
        const path = bench.route((exchange) => {
          const sink = exchange.reply(200, { "content-type": "text/event-stream" });
          sink.write("1 ");
          sink.write(euro.subarray(0, 2));
          sink.write(euro.subarray(2));
          sink.write(" ünd 😀");
          sink.end();
        });
        expect(await readAnswerText(await bench.get(path))).toBe("1 € ünd 😀");
      });

      test("reaches a hundred clients at once", async () => {
        const everybody = deferred();
        let present = 0;
        const path = bench.route(async (exchange) => {
          const sink = exchange.reply(200, { "content-type": "text/event-stream" });
          const id = exchange.header("x-client");
          if (++present === 100) everybody.resolve();
          await everybody.promise;
          for (let index = 0; index < 10; index++) {
            sink.write(`${id}:${index} `);
            await Promise.resolve();
          }
          sink.end();
        });
        const texts = await Promise.all(
          Array.from({ length: 100 }, async (_, id) => {
            const headers = { "x-client": String(id) };
            return readAnswerText(await bench.send({ path, headers }).answer);
          }),
        );
        const counts = Array.from({ length: 10 }, (_, index) => index);
        expect(texts).toEqual(
          texts.map((_, id) => counts.map((index) => `${id}:${index} `).join("")),
        );
      });

      test("has no body when HEAD asked for it", async () => {
        const path = bench.route((exchange) => {
          expect(exchange.method).toBe("HEAD");
          const sink = exchange.reply(200, { "content-type": "text/plain", "content-length": "5" });
          expect(sink.write("hello")).toBe(true);
          sink.end();
        });
        const answer = await bench.send({ path, method: "HEAD" }).answer;
        expect(answer.status).toBe(200);
        expect(answer.header("content-type")).toBe("text/plain");
        expect(await answer.read()).toBeUndefined();
        await bench.ping();
      });

      test.for([204, 304])("has no body with status %i", async (status) => {
        const path = bench.route((exchange) => {
          const sink = exchange.reply(status, { etag: '"1"' });
          sink.write("not sent");
          sink.end();
        });
        const answer = await bench.get(path);
        expect(answer.status).toBe(status);
        expect(answer.header("etag")).toBe('"1"');
        expect(await answer.read()).toBeUndefined();
        await bench.ping();
      });

      test("can be given to OPTIONS", async () => {
        const path = bench.route((exchange) => {
          exchange.reply(204, { allow: `${exchange.method}, POST` }).end();
        });
        const answer = await bench.send({ path, method: "OPTIONS" }).answer;
        expect([answer.status, answer.header("allow")]).toEqual([204, "OPTIONS, POST"]);
      });
    });

    describe("without an answer", () => {
      test("the host has its say when no route is ours", async () => {
        const answer = await bench.get("/nobody/is/here");
        expect(answer.status).toBe(404);
        await readAll(answer);
        await bench.ping();
      });

      test("a failing handler is a 500 that tells nothing, and the next request is served", async () => {
        const path = bench.route(() => {
          throw new Error("postgres://user:secret@db");
        });
        const answer = await bench.get(path);
        expect(answer.status).toBe(500);
        const text = await readAnswerText(answer);
        if (errors === "problem") {
          expect(answer.header("content-type")).toBe("application/problem+json");
          expect(JSON.parse(text)).toMatchObject({ status: 500, code: "internal" });
          expect(text).not.toContain("secret");
        }
        await bench.ping();
      });

      test("a handler that fails after its head breaks the answer off", async () => {
        const failing = deferred();
        const path = bench.route(async (exchange) => {
          exchange.reply(200, { "content-type": "text/event-stream" }).write("so far");
          await failing.promise;
          throw new Error("too late to say so");
        });
        const answer = await bench.get(path);
        await readUntil(answer, "", "so far");
        failing.resolve();
        expect(await endingOf(answer)).toBe("broken");
        await bench.ping();
      });
    });

    describe("a client that leaves", () => {
      test("is reported once", async () => {
        const left = deferred();
        let count = 0;
        let sink: Sink | undefined;
        const path = bench.route((exchange) => {
          sink = exchange.reply(200, { "content-type": "text/event-stream" });
          sink.onClose = () => {
            count++;
            left.resolve();
          };
          sink.write("hello");
        });
        const call = bench.send({ path });
        await readUntil(await call.answer, "", "hello");
        call.leave();
        await left.promise;
        await bench.ping();
        expect(sink?.write("nobody reads this")).toBe(false);
        expect(sink?.pending).toBe(0);
        sink?.end();
        sink?.destroy();
        await bench.ping();
        expect(count).toBe(1);
      });

      test("is reported when it left before the answer", async () => {
        const arrived = deferred();
        const gone = deferred();
        const left = deferred();
        const path = bench.route(async (exchange) => {
          arrived.resolve();
          await gone.promise;
          const sink = exchange.reply(200, { "content-type": "text/event-stream" });
          sink.onClose = left.resolve;
          sink.write("hello?");
        });
        const call = bench.send({ path });
        await arrived.promise;
        call.leave();
        await bench.ping();
        gone.resolve();
        await left.promise;
        await bench.ping();
      });

      test("is told to who has no answer yet, where the binding can tell", async ({ skip }) => {
        const arrived = deferred<AbortSignal | undefined>();
        const left = deferred();
        const path = bench.route(async (exchange) => {
          const { signal } = exchange;
          signal?.addEventListener("abort", () => left.resolve());
          arrived.resolve(signal);
          if (signal) await left.promise;
          exchange.reply(204, {}).end();
        });
        const call = bench.send({ path });
        const signal = await arrived.promise;
        skip(signal === undefined, "This binding has no signal.");
        expect(signal?.aborted).toBe(false);
        call.leave();
        await left.promise;
        await bench.ping();
      });

      test("is not reported when the answer had ended", async () => {
        let count = 0;
        const path = bench.route((exchange) => {
          const sink = exchange.reply(200, { "content-type": "text/event-stream" });
          sink.onClose = () => count++;
          sink.write("all");
          sink.end();
        });
        const call = bench.send({ path });
        expect(await readAnswerText(await call.answer)).toBe("all");
        call.leave();
        await bench.ping();
        await bench.ping();
        expect(count).toBe(0);
      });
    });

    describe("a client that does not read", () => {
      const total = 32 * mebibyte;
      let sink: Sink;
      let sent: Flood;

      async function stall(): Promise<ClientAnswer> {
        const path = bench.route((exchange) => {
          sink = exchange.reply(200, { "content-type": "text/plain" });
          sent = flood(sink, total);
        });
        const answer = await bench.get(path);
        await bench.untilStuck(
          () => sink,
          () => sent,
        );
        return answer;
      }

      test("holds back the writer, costs little, and gets everything once it reads", async () => {
        const answer = await stall();
        expect(sent.refusals).toBe(sent.drains + 1);
        // What the kernel holds for a socket is several MiB.
        expect(sent.sent).toBeLessThan(total * 0.75);
        expect(sent.peakPending).toBeGreaterThan(0);
        expect(sent.peakPending).toBeLessThan(mebibyte);
        let received = 0;
        for (let part = await answer.read(); part; part = await answer.read()) {
          received += part.byteLength;
        }
        expect(received).toBe(total);
        expect(sent.drains).toBe(sent.refusals);
        await bench.until(() => sink.pending === 0);
      });

      test("can be cut off", async () => {
        const answer = await stall();
        let count = 0;
        sink.onClose = () => count++;
        sink.destroy();
        expect(sink.pending).toBe(0);
        expect(await endingOf(answer)).toBe("broken");
        await bench.ping();
        expect(count).toBe(0);
      });

      test("can be cut off after the end", async () => {
        const answer = await stall();
        sink.end();
        await bench.ping();
        expect(sink.pending).toBeGreaterThan(0);
        sink.destroy();
        expect(sink.pending).toBe(0);
        expect(await endingOf(answer)).toBe("broken");
        await bench.ping();
      });
    });
  });
}

async function readUntil(answer: ClientAnswer, start: string, wanted: string): Promise<string> {
  const decoder = new TextDecoder();
  let text = start;
  while (!text.includes(wanted)) {
    const part = await answer.read();
    if (!part) throw new Error(`The answer ended before ${JSON.stringify(wanted)}.`);
    text += decoder.decode(part, { stream: true });
  }
  return text;
}

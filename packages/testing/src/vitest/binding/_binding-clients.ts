import type { Sink } from "@holodeck/agui-core";
import { describe, expect, test } from "vitest";
import { deferred, flood, noise, readAnswerText, readUntil } from "./_binding-bench.ts";
import type { Flood } from "./_binding-bench.ts";
import { endingOf } from "./_binding-client.ts";
import type { ClientAnswer } from "./_binding-client.ts";
import { mebibyte } from "./_binding-kit.ts";
import type { BindingKit } from "./_binding-kit.ts";

/** Clients that leave, and clients that do not read. */
export function testBindingClients(kit: BindingKit): void {
  describe("a client that leaves", () => {
    test("is reported once", async () => {
      const left = deferred();
      let count = 0;
      let sink: Sink | undefined;
      const path = kit.bench.route((exchange) => {
        sink = exchange.reply(200, { "content-type": "text/event-stream" });
        sink.onClose = () => {
          count++;
          left.resolve();
        };
        sink.write("hello");
      });
      const call = kit.bench.send({ path });
      await readUntil(await call.answer, "", "hello");
      call.leave();
      await left.promise;
      await kit.bench.ping();
      expect(sink?.write("never read")).toBe(false);
      expect(sink?.pending).toBe(0);
      sink?.end();
      sink?.destroy();
      await kit.bench.ping();
      expect(count).toBe(1);
    });

    test("is reported when it left before the answer", async () => {
      const arrived = deferred();
      const gone = deferred();
      const left = deferred();
      const path = kit.bench.route(async (exchange) => {
        arrived.resolve();
        await gone.promise;
        const sink = exchange.reply(200, { "content-type": "text/event-stream" });
        sink.onClose = left.resolve;
        sink.write("hello?");
      });
      const call = kit.bench.send({ path });
      await arrived.promise;
      call.leave();
      await kit.bench.ping();
      gone.resolve();
      await left.promise;
      await kit.bench.ping();
    });

    test("is reported to every listener of `onLeave` before there is an answer", async () => {
      const arrived = deferred();
      const left = [deferred(), deferred()];
      let count = 0;
      const path = kit.bench.route(async (exchange) => {
        for (const { resolve } of left) {
          exchange.onLeave(() => {
            count++;
            resolve();
          });
        }
        arrived.resolve();
        await Promise.all(left.map(({ promise }) => promise));
        exchange.reply(204, {}).end();
      });
      const call = kit.bench.send({ path });
      await arrived.promise;
      expect(count).toBe(0);
      call.leave();
      await Promise.all(left.map(({ promise }) => promise));
      await kit.bench.ping();
      expect(count).toBe(2);
    });

    test("is reported to `onLeave` in the middle of an answer", async () => {
      const left = deferred();
      const path = kit.bench.route((exchange) => {
        exchange.onLeave(left.resolve);
        exchange.reply(200, { "content-type": "text/event-stream" }).write("hello");
      });
      const call = kit.bench.send({ path });
      await readUntil(await call.answer, "", "hello");
      call.leave();
      await left.promise;
      await kit.bench.ping();
    });

    test("is reported at once to a listener of `onLeave` that comes later", async () => {
      const arrived = deferred();
      const late = deferred<number>();
      const path = kit.bench.route(async (exchange) => {
        const left = deferred();
        exchange.onLeave(left.resolve);
        arrived.resolve();
        await left.promise;
        let count = 0;
        exchange.onLeave(() => count++);
        late.resolve(count);
        exchange.reply(204, {}).end();
      });
      const call = kit.bench.send({ path });
      await arrived.promise;
      call.leave();
      expect(await late.promise).toBe(1);
      await kit.bench.ping();
    });

    test("is not reported when the answer had ended", async () => {
      let count = 0;
      const path = kit.bench.route((exchange) => {
        const sink = exchange.reply(200, { "content-type": "text/event-stream" });
        sink.onClose = () => count++;
        exchange.onLeave(() => count++);
        sink.write("all");
        sink.end();
      });
      const call = kit.bench.send({ path });
      expect(await readAnswerText(await call.answer)).toBe("all");
      call.leave();
      await kit.bench.ping();
      await kit.bench.ping();
      expect(count).toBe(0);
    });
  });

  describe("a client that does not read", () => {
    const total = 32 * mebibyte;
    let sink: Sink;
    let sent: Flood;

    async function stall(): Promise<ClientAnswer> {
      const path = kit.bench.route((exchange) => {
        sink = exchange.reply(200, { "content-type": "text/plain" });
        sent = flood(sink, total);
      });
      const answer = await kit.bench.get(path);
      await kit.bench.untilStuck(
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
      await kit.bench.until(() => sink.pending === 0);
    });

    test("can be cut off", async () => {
      const answer = await stall();
      let count = 0;
      sink.onClose = () => count++;
      sink.destroy();
      expect(sink.pending).toBe(0);
      expect(await endingOf(answer)).toBe("broken");
      await kit.bench.ping();
      expect(count).toBe(0);
    });

    test("can be cut off after the end", async () => {
      const answer = await stall();
      // A kernel may still make room for a little: this is more than it ever holds for a socket.
      sink.onDrain = undefined;
      const piece = noise();
      for (let bytes = 0; bytes < total; bytes += piece.byteLength) sink.write(piece);
      sink.end();
      await kit.bench.ping();
      expect(sink.pending).toBeGreaterThan(0);
      sink.destroy();
      expect(sink.pending).toBe(0);
      expect(await endingOf(answer)).toBe("broken");
      await kit.bench.ping();
    });
  });
}

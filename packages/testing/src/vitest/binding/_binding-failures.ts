import { describe, expect, test } from "vitest";
import { deferred, readAnswerText, readUntil } from "./_binding-bench.ts";
import { endingOf, readToEnd } from "./_binding-client.ts";
import type { BindingKit } from "./_binding-kit.ts";

/** What a client receives from a handler that has no route or fails. */
export function testBindingFailures(kit: BindingKit): void {
  describe("without an answer", () => {
    test("the host answers when no route matches", async () => {
      const answer = await kit.bench.get("/nobody/is/here");
      expect(answer.status).toBe(404);
      await readToEnd(answer);
      await kit.bench.ping();
    });

    test("a failing handler is a 500 without a reason, and the next request is served", async () => {
      const path = kit.bench.route(() => {
        throw new Error("postgres://user:secret@db");
      });
      const answer = await kit.bench.get(path);
      expect(answer.status).toBe(500);
      const text = await readAnswerText(answer);
      if (kit.errors === "problem") {
        expect(answer.header("content-type")).toBe("application/problem+json");
        expect(JSON.parse(text)).toMatchObject({ status: 500, code: "internal" });
        expect(text).not.toContain("secret");
      }
      await kit.bench.ping();
    });

    test("a handler that fails after its head breaks the answer off", async () => {
      const failing = deferred();
      const path = kit.bench.route(async (exchange) => {
        exchange.reply(200, { "content-type": "text/event-stream" }).write("so far");
        await failing.promise;
        throw new Error("too late");
      });
      const answer = await kit.bench.get(path);
      await readUntil(answer, "", "so far");
      failing.resolve();
      expect(await endingOf(answer)).toBe("broken");
      await kit.bench.ping();
    });
  });
}

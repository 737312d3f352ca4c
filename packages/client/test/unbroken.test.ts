import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { cuttingProxy } from "./_cutting-proxy.ts";
import { endAll, start } from "./_server.ts";
import { unbrokenClients } from "./_unbroken.ts";

afterEach(endAll);

// `UNBROKEN_ANSWERS=1000 npx vitest run packages/client/test/unbroken.test.ts` prints the figures of the docs.
const answers = Number(process.env.UNBROKEN_ANSWERS ?? 40);

beforeEach(() => {
  // Clients report each cut there.
  vi.spyOn(console, "error").mockImplementation(() => {});
});
afterEach(() => vi.restoreAllMocks());

/** Text of the length of an ordinary answer, with characters of one to four bytes. */
const words = Array.from({ length: 120 }, (_, index) => `word-${index} é 漢 🚀 `);

test(
  "answers arrive whole and once through a proxy that cuts connections at random bytes",
  { timeout: 600_000 },
  async () => {
    const rejections: unknown[] = [];
    const note = (reason: unknown): void => void rejections.push(reason);
    process.on("unhandledRejection", note);
    let runs = 0;
    const server = await start(async function* () {
      runs++;
      // A turn of the event loop for each piece: the answer is cut while it is made, and after it.
      for (const word of words) {
        await new Promise((resolve) => setImmediate(resolve));
        yield word;
      }
    });
    const whole = words.join("");
    const figures = [];
    const reasons = new Set<string>();
    try {
      for (const client of unbrokenClients) {
        const of = Math.ceil(answers / unbrokenClients.length);
        const before = runs;
        let [cuts, broken, failed] = [0, 0, 0];
        for (let index = 0; index < of; index++) {
          let left = client.maxCuts ?? Infinity;
          // Up to the length of two answers: some connections are not cut, and some before their first byte.
          const least = client.survivesHead ? 0 : 800;
          const proxy = await cuttingProxy(server.url, () => {
            const limit = least + Math.floor(Math.random() * 16_000);
            return left-- > 0 ? limit : undefined;
          });
          try {
            const text = await client.ask(proxy.url, `${client.name.length}-${index}`);
            if (text !== whole) broken++;
          } catch (error) {
            failed++;
            reasons.add(String(error));
          }
          cuts += proxy.cuts();
          await proxy.close();
        }
        figures.push({
          client: client.name,
          answers: of,
          cuts,
          broken,
          failed,
          secondRuns: runs - before - of,
        });
      }
      await new Promise((resolve) => setImmediate(resolve));
    } finally {
      process.off("unhandledRejection", note);
    }
    process.stdout.write(
      `unbroken: ${JSON.stringify({ rejections: rejections.length, figures })}\n`,
    );
    expect(rejections).toEqual([]);
    expect([...reasons]).toEqual([]);
    for (const { client, broken, failed, secondRuns, cuts } of figures) {
      expect({ client, broken, failed, secondRuns }).toEqual({
        client,
        broken: 0,
        failed: 0,
        secondRuns: 0,
      });
      expect(cuts, client).toBeGreaterThan(0);
    }
  },
);

// A measurement, and no test: what the choices of `onDisconnect` cost and save. Printed with the figures above.
test.runIf(process.env.UNBROKEN_ANSWERS)("what a grace costs", { timeout: 600_000 }, async () => {
  const client = unbrokenClients[0]!;
  const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
  const cuttable = async (onDisconnect: "abort" | { graceMs: number }): Promise<object> => {
    let pieces = 0;
    let stoppedAt = 0;
    const server = await start(
      async function* (_, { signal }) {
        signal.addEventListener("abort", () => (stoppedAt = performance.now()));
        // The pace of a model.
        for (let index = 0; index < 200 && !signal.aborted; index++) {
          await pause(20);
          pieces++;
          yield "word ";
        }
      },
      { onDisconnect },
    );
    let whole = 0;
    for (let index = 0; index < 5; index++) {
      const proxy = await server.cutting(2000);
      const text = await client.ask(proxy.url, `cut-${index}`);
      if (text === "word ".repeat(200)) whole++;
    }
    let afterMs = 0;
    let afterPieces = 0;
    for (let index = 0; index < 5; index++) {
      const leaving = new AbortController();
      const response = await fetch(`${server.url}/agui`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({
          threadId: `stop-${index}`,
          messages: [{ id: "q", role: "user", content: "hi" }],
        }),
        signal: leaving.signal,
      });
      const reader = response.body!.getReader();
      for (let chunk = 0; chunk < 5; chunk++) await reader.read();
      stoppedAt = 0;
      const [left, before] = [performance.now(), pieces];
      leaving.abort();
      await expect.poll(() => stoppedAt, { timeout: 60_000 }).toBeGreaterThan(0);
      afterMs += (stoppedAt - left) / 5;
      afterPieces += (pieces - before) / 5;
    }
    return {
      onDisconnect,
      cut: 5,
      whole,
      msAfterStop: Math.round(afterMs),
      piecesAfterStop: afterPieces,
    };
  };
  const figures = [await cuttable("abort"), await cuttable({ graceMs: 3000 })];
  process.stdout.write(`grace: ${JSON.stringify(figures)}\n`);
});

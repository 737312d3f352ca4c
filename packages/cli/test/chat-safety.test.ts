import { createAgentHandler } from "@holodeck/agui";
import { AgentError, silentLogger } from "@holodeck/agui-core";
import { serve } from "@holodeck/agui-node";
import fc from "fast-check";
import { describe, expect, onTestFinished, test } from "vitest";
import { receiveEvents } from "../src/chat/receive-events.ts";
import { toSafeLine, toSafeText } from "../src/chat/safe-text.ts";
import { startServer } from "./_broken-server.ts";
import { runMain, typeTo } from "./_run-main.ts";

// Whatever a terminal may obey, but for the newline.
// oxlint-disable-next-line no-control-regex
const commands = /[\u0000-\u0009\u000B-\u001F\u007F-\u009F\u202A-\u202E\u2066-\u2069]/;
const attacks = [
  "\u001B[2J\u001B[H",
  "\u001B]0;owned\u0007",
  "\u001B]52;c;ZXZpbA==\u001B\\",
  "\u009B31m",
  "\u001BP+q544e\u001B\\",
  "\u0007\b\r",
  "\u202Etxt.exe",
  "\u001B",
];
const attack = attacks.join("x");

describe("the output of a server", () => {
  test("never reaches the terminal as a command, wherever it stands", async () => {
    const handler = createAgentHandler(
      async (input, { emit, state }) => {
        for (const one of attacks) await emit.text(`${one}.`);
        await emit.reasoning(attack);
        const call = emit.toolCall(`tool${attack}`, { [attack]: attack });
        await emit.toolResult(call, attack);
        await state.set({ [attack]: 1 });
        await state.set({ [attack]: 1, [`${attack}2`]: 2 });
        emit.activity(attack, { [attack]: attack });
        await emit.step(attack, async () => {});
        if (input.resume) throw new AgentError("agent-error", attack);
        emit.interrupt({ reason: "confirmation", message: attack });
      },
      { logger: silentLogger },
    );
    const { url, close } = await serve(handler, { port: 0, signals: false });
    const { out } = await typeTo(["chat", `${url}/agui`], ["hi", "y", "/state", "/quit"]);
    await close();
    expect(out).toContain("[y/n]");
    expect(out).toContain("agent-error");
    expect(commands.exec(out)?.[0]).toBeUndefined();
  });

  test("is text without controls, for any text", () => {
    const nasty = fc.string({
      unit: fc.oneof(fc.constantFrom(...attacks, "[", "]", "0", ";", "m", "\n"), fc.string()),
    });
    fc.assert(
      fc.property(nasty, (text) => {
        expect(commands.test(toSafeText(text).replaceAll("\t", ""))).toBe(false);
        expect(toSafeLine(text, 20).length).toBeLessThanOrEqual(20);
        expect(toSafeLine(text)).not.toContain("\n");
      }),
    );
  });

  test.for([
    ["\u001B[31mred\u001B[0m", "red"],
    ["\u001B]8;;http://x\u0007link\u001B]8;;\u0007", "link"],
    ["a\u001B(Bb", "ab"],
    ["naïve 漢字 🙂\ttab\nline", "naïve 漢字 🙂\ttab\nline"],
  ] as const)("%j is shown as %j", ([said, shown]) => {
    expect(toSafeText(said)).toBe(shown);
  });
});

test("events are read alike, however the bytes are cut and lines end", async () => {
  const frame = fc.record({
    event: fc.record({
      type: fc.string({ unit: "grapheme" }),
      more: fc.jsonValue({ maxDepth: 1 }),
    }),
    id: fc.option(fc.nat().map(String), { nil: undefined }),
    // Indented, an event takes several lines of data.
    indent: fc.constantFrom(0, 1),
  });
  const property = fc.asyncProperty(
    fc.array(frame),
    fc.constantFrom("\n", "\r\n", "\r"),
    fc.array(fc.nat(400)),
    async (frames, end, cuts) => {
      const text = frames
        .map(({ event, id, indent }) => [
          ": note",
          "unknown: field",
          ...(id ? [`id: ${id}`] : []),
          ...JSON.stringify(event, null, indent)
            .split("\n")
            .map((line) => `data: ${line}`),
          "",
          "",
        ])
        .map((lines) => lines.join(end))
        .join("");
      // A CR at the very end waits for its LF.
      const response = new Response(inPieces(`\uFEFF${text}\n`, cuts));
      const read: unknown[] = [];
      for await (const one of receiveEvents(response, new AbortController().signal)) read.push(one);
      expect(read).toEqual(
        frames.map(({ event, id }) => ({ event: roundTrip(event), ...(id ? { id } : {}) })),
      );
    },
  );
  await fc.assert(property);
});

const mebibyte = "x".repeat(1024 * 1024);

test.for([
  ["a line", `data: ${mebibyte}`, mebibyte],
  ["an event", `data: ${mebibyte}\n`, `data: ${mebibyte}\n`],
] as const)("%s without an end is not kept: the turn fails", async ([, first, next]) => {
  const { url, close } = await startServer({
    answer: (_run, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(first);
      const more = (): void => void response.write(next, (error) => error ?? more());
      more();
      return true;
    },
  });
  onTestFinished(close);
  const { code, out } = await runMain("chat", url, "hi");
  expect(out).toContain("The server sent an event without an end.");
  expect(code).toBe(1);
});

function inPieces(text: string, cuts: readonly number[]): ReadableStream<Uint8Array> {
  const bytes = new TextEncoder().encode(text);
  const places = [0, ...cuts.filter((at) => at < bytes.length).sort((a, b) => a - b)];
  return new ReadableStream({
    start(controller) {
      for (const [index, at] of places.entries()) {
        controller.enqueue(bytes.slice(at, places[index + 1]));
      }
      controller.close();
    },
  });
}

function roundTrip(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

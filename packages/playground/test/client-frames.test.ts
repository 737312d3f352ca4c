import fc from "fast-check";
import { expect, test } from "vitest";
import { protoFrames, protoPayload } from "../page/client/proto-frames.ts";
import { sseFrames } from "../page/client/sse-frames.ts";
import type { SseFrame } from "../page/client/sse-frames.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

test("reads a frame's event, id and data, and keeps comments as bytes", async () => {
  const text = ": hello\n\nevent: a\nid: 7\ndata: {\ndata: }\n\ndata:x\n\n";
  const frames = await readSse([encoder.encode(text)]);
  expect(frames).toMatchObject([{}, { event: "a", id: "7", data: "{\n}" }, { data: "x" }]);
  expect(frames[0]).not.toHaveProperty("data");
  expect(decoder.decode(frames[0]!.bytes)).toBe(": hello\n\n");
});

test("gives a frame that the end of the stream has cut short", async () => {
  const frames = await readSse([encoder.encode("data: 1\n\ndata: 2")]);
  expect(frames.map(({ data }) => data)).toEqual(["1", "2"]);
});

test("does not wait for more than the blank line", async () => {
  let isAsked = false;
  async function* slowly(): AsyncGenerator<Uint8Array> {
    yield encoder.encode("data: now\n\n");
    isAsked = true;
    yield encoder.encode("data: later\n\n");
  }
  const { value } = (await sseFrames(slowly()).next()) as { value: SseFrame };
  expect([value.data, isAsked]).toEqual(["now", false]);
});

test("finds the same frames, and loses no byte, however a stream is cut", async () => {
  const line = fc
    .string({ unit: "grapheme", maxLength: 12 })
    .map((text) => text.replaceAll(/[\r\n]/g, ""));
  const messages = fc.array(fc.record({ data: line, id: fc.nat(), isComment: fc.boolean() }));
  const ends = fc.constantFrom("\n", "\r\n");
  await fc.assert(
    fc.asyncProperty(messages, ends, fc.array(fc.nat(400)), async (all, end, cuts) => {
      const text = all
        .map(({ data, id, isComment }) =>
          isComment ? `: ${data}${end}${end}` : `id: ${id}${end}data: ${data}${end}${end}`,
        )
        .join("");
      const bytes = encoder.encode(text);
      const frames = await readSse(cutAt(bytes, cuts));
      expect(frames.map(({ data }) => data)).toEqual(
        all.map(({ data, isComment }) => (isComment ? undefined : data)),
      );
      expect(join(frames.map((frame) => frame.bytes))).toEqual([...bytes]);
    }),
  );
});

test("finds the frames of protobuf however a stream is cut", async () => {
  const payloads = fc.array(fc.uint8Array({ maxLength: 300 }));
  await fc.assert(
    fc.asyncProperty(payloads, fc.array(fc.nat(2000)), async (all, cuts) => {
      const bytes = Uint8Array.from(
        all.flatMap((one) => [0, 0, one.length >> 8, one.length & 255, ...one]),
      );
      const frames: Uint8Array[] = [];
      for await (const frame of protoFrames(cutAt(bytes, cuts))) frames.push(frame);
      expect(frames.map((frame) => [...protoPayload(frame)!])).toEqual(all.map((one) => [...one]));
      expect(join(frames)).toEqual([...bytes]);
    }),
  );
});

test("shows a protobuf frame that was cut short, and reads nothing out of it", async () => {
  const frames: Uint8Array[] = [];
  for await (const frame of protoFrames(cutAt(Uint8Array.of(0, 0, 0, 9, 1, 2), [])))
    frames.push(frame);
  expect(frames.map((frame) => [frame.length, protoPayload(frame)])).toEqual([[6, undefined]]);
});

async function readSse(
  chunks: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
): Promise<SseFrame[]> {
  const frames: SseFrame[] = [];
  for await (const frame of sseFrames(iterate(chunks))) frames.push(frame);
  return frames;
}

async function* iterate(
  chunks: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  yield* chunks;
}

async function* cutAt(bytes: Uint8Array, cuts: readonly number[]): AsyncGenerator<Uint8Array> {
  const places = [0, ...cuts.filter((at) => at < bytes.length).sort((a, b) => a - b), bytes.length];
  for (let index = 1; index < places.length; index++) {
    yield bytes.slice(places[index - 1], places[index]);
  }
}

function join(pieces: readonly Uint8Array[]): number[] {
  return pieces.flatMap((piece) => [...piece]);
}

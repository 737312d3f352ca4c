import { afterAll, expect, test } from "vitest";
import { deflateSync } from "node:zlib";
import { drawText, makePng } from "./_png.ts";
import { serveEcho, textOf, types, ways } from "./_serve.ts";

const { handler, seen } = serveEcho({ ocr: true });
afterAll(() => handler.close());

// Of letters that so coarse a font can tell apart.
const words = [
  "HORSE",
  "HOUSE",
  "LETTER",
  "SOUTH",
  "ROUTE",
  "WHEEL",
  "STORE",
  "OTHER",
  "WHOLE",
  "TREES",
];

// Another one for every way, so that nothing is found that was left behind; the same in every run.
function sentenceOf(number: number): string {
  return [0, 1, 2, 3].map((at) => words[(4 * number + at) % words.length]).join(" ");
}

test.each(Object.keys(ways))(
  "reads the words in a screenshot to the agent, over %s",
  async (way) => {
    const sentence = sentenceOf(Object.keys(ways).indexOf(way));
    const file = { name: "screen.png", mimeType: types.png, bytes: drawText(sentence) };
    const response = await handler.fetch(ways[way]!("Read it", [file]));
    expect(response.status, await response.clone().text()).toBe(200);
    await response.text();
    expect(textOf(seen.messages.at(-1)!)).toBe(`Read it\n\n## File: screen.png\n${sentence}`);
    expect(seen.bytes[0]).toEqual(file.bytes);
  },
);

test("reports that there is nothing to read in an image", async () => {
  const bytes = makePng(
    64,
    64,
    deflateSync(Buffer.alloc(65 * 64, 255).map((v, i) => (i % 65 ? v : 0))),
  );
  const response = await handler.fetch(
    ways["AG-UI"]!("Read it", [{ name: "white.png", mimeType: types.png, bytes }]),
  );
  await response.text();
  expect(textOf(seen.messages.at(-1)!)).toBe(
    `Read it\n\n## File: white.png\n[image/png, ${bytes.byteLength} bytes, without text]`,
  );
});

test("refuses an image that claims 20,000 × 20,000 dots without unpacking it", async () => {
  const bytes = makePng(20_000, 20_000, deflateSync(Buffer.alloc(1000)));
  const response = await handler.fetch(
    ways["AG-UI"]!("Read it", [{ name: "vast.png", mimeType: types.png, bytes }]),
  );
  expect(response.status).toBe(413);
  expect(await response.json()).toMatchObject({
    code: "payload-too-large",
    detail: '"vast.png" takes too much memory to read.',
  });
});

test("refuses an image whose data is rubbish, by its name", async () => {
  const whole = drawText("BROKEN");
  const bytes = whole.slice(0, 60);
  const response = await handler.fetch(
    ways["AG-UI"]!("Read it", [{ name: "torn.png", mimeType: types.png, bytes }]),
  );
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({
    detail: '"torn.png" is damaged and cannot be read.',
  });
});

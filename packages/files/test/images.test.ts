import { afterAll, expect, test } from "vitest";
import { drawText } from "./_png.ts";
import { base64, serveEcho, toAgui, types, ways } from "./_serve.ts";

const { handler, seen } = serveEcho();
afterAll(() => handler.close());

const bytes = drawText("MOON");

test.each(Object.keys(ways))(
  "reach an agent as image parts when no OCR is asked for, over %s",
  async (way) => {
    const file = { name: "moon.png", mimeType: types.png, bytes };
    const response = await handler.fetch(ways[way]!("What is it?", [file]));
    expect(response.status).toBe(200);
    await response.text();
    expect(seen.messages.at(-1)).toMatchObject({
      content: [
        { type: "text", text: "What is it?" },
        {
          type: "image",
          source: { type: "data", value: base64(bytes), mimeType: types.png },
          metadata: { filename: "moon.png" },
        },
      ],
    });
    expect(seen.bytes).toEqual([bytes]);
  },
);

test("keep their place and every member they came with", async () => {
  const image = {
    type: "image",
    source: { type: "data", value: base64(bytes), mimeType: types.png },
    metadata: { detail: "high" },
  };
  const content = [image, { type: "text", text: "Before?" }];
  await (await handler.fetch(toAgui(content))).text();
  expect(seen.messages.at(-1)).toMatchObject({ content });
});

import { createAgentHandler } from "@holodeck/agui";
import { silentLogger } from "@holodeck/agui-core";
import { describe, expect, test } from "vitest";
import { extractFiles } from "../../../files/src/index.ts";
import { drawText } from "../../../files/test/_png.ts";
import { types, ways } from "../../../files/test/_serve.ts";
import { fromAiSdk, toAiSdkMessages } from "../../src/ai-sdk/index.ts";
import { finish, scriptedModel, sdks, text } from "./_models.ts";
import type { Loose } from "./_models.ts";

describe.for(sdks)("an image for AI SDK $major", (sdk) => {
  test.for(Object.keys(ways))("is a part of the prompt, with its bytes, over %s", async (way) => {
    const model = scriptedModel(sdk, [...text("A moon."), finish(sdk)]);
    const agent = fromAiSdk(({ messages }) =>
      sdk.ai.streamText({ model, messages: toAiSdkMessages(messages) }),
    );
    const handler = createAgentHandler(
      { echo: agent },
      { logger: silentLogger, files: extractFiles() },
    );
    const bytes = drawText("MOON");
    const file = { name: "moon.png", mimeType: types.png, bytes };
    const response = await handler.fetch(ways[way]!("What is it?", [file]));
    expect(await response.text()).toContain("A moon.");
    const [words, image] = model.doStreamCalls[0].prompt[0].content as Loose[];
    expect(words).toMatchObject({ type: "text", text: "What is it?" });
    expect(image).toMatchObject({ type: "file", mediaType: types.png });
    expect(Buffer.compare(toBytes(image.data), bytes)).toBe(0);
    await handler.close();
  });
});

// Its models get bytes, base64 or, of late, either of them with a name.
function toBytes(data: Loose): Buffer {
  if (typeof data === "string") return Buffer.from(data, "base64");
  return data instanceof Uint8Array ? Buffer.from(data) : toBytes(data.data);
}

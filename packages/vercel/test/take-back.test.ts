import { describe, expect, test } from "vitest";
import { nested, sentBack } from "../../core/test/_sent-back.ts";
import type { SentBack } from "../../core/test/_sent-back.ts";
import { createChat, sdks, serveChat, textOf } from "./_chat.ts";
import type { Chat, Sdk } from "./_chat.ts";

/** A chat with an agent that sends the values first, and an answer in every later turn. */
async function open(
  sdk: Sdk,
  { values, limits }: Pick<SentBack, "values" | "limits">,
): Promise<Chat> {
  let turns = 0;
  const { api } = await serveChat(
    async function* () {
      if (turns++ === 0) yield* values() as Iterable<string>;
      else yield `answer ${turns}`;
    },
    { sdkVersion: sdk.major },
    limits ? { limits } : {},
  );
  return createChat(sdk, { api });
}

async function takesTwoMore(chat: Chat): Promise<void> {
  for (const turn of [2, 3]) {
    await chat.chat.sendMessage({ text: "more" });
    expect(chat.chat.error).toBeUndefined();
    expect(textOf(chat.last)).toBe(`answer ${turn}`);
  }
}

const newest = sdks.filter(({ name }) => !name.endsWith(".0.0"));

describe.for(newest)("Chat of AI SDK $name", (sdk) => {
  test.for(sentBack)("sends back $name, in a second and a third turn", async (row) => {
    const chat = await open(sdk, row);
    await chat.chat.sendMessage({ text: "one" });
    if (row.error) expect(chat.chat.error).toBeDefined();
    await takesTwoMore(chat);
  });

  test.for([
    ["arguments", { args: JSON.stringify(nested(80)), result: "found" }],
    ["a result", { args: "{}", result: JSON.stringify(nested(80)) }],
  ] as const)("sends back a tool call with %s nested 80 deep", async ([, { args, result }]) => {
    const chat = await open(sdk, {
      values: () => [
        { type: "TOOL_CALL_START", toolCallId: "c", toolCallName: "look" },
        { type: "TOOL_CALL_ARGS", toolCallId: "c", delta: args },
        { type: "TOOL_CALL_END", toolCallId: "c" },
        { type: "TOOL_CALL_RESULT", messageId: "r", toolCallId: "c", content: result },
      ],
    });
    await chat.chat.sendMessage({ text: "one" });
    expect(chat.chat.error).toBeUndefined();
    await takesTwoMore(chat);
  });

  test("sends back data that fits, and is sent none that does not", async () => {
    const fits = await open(sdk, {
      values: () => [{ type: "CUSTOM", name: "n", value: nested(50) }],
    });
    await fits.chat.sendMessage({ text: "one" });
    expect(fits.chat.error).toBeUndefined();
    await takesTwoMore(fits);
    const deep = await open(sdk, {
      values: () => [{ type: "CUSTOM", name: "n", value: nested(70) }],
    });
    await deep.chat.sendMessage({ text: "one" });
    expect(deep.chat.error).toBeDefined();
    await takesTwoMore(deep);
  });
});

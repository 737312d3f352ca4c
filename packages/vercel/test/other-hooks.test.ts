import { createAgentHandler } from "@holodeck/agui";
import { silentLogger } from "@holodeck/agui-core";
import { scriptedAgent } from "@holodeck/agui-testing";
import { vercel } from "@holodeck/agui-vercel";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { createChat, sdks, serveChat, textOf } from "./_chat.ts";
import type { Loose } from "./_chat.ts";
import { renderHook } from "./_v4-page.ts";

const releases = ["ai-react-2", "ai-react-3", "ai-react-4"];

describe.for(releases)("%s", (release) => {
  test("completes a prompt for useCompletion that names its AI SDK", async () => {
    const { api } = await serveChat(scriptedAgent(["Once ", "upon a time"]));
    const options = { api: `${api}?sdkVersion=5` };
    const completion = await renderHook("useCompletion", options, release);
    await completion.current.complete("Tell me");
    await completion.until(({ isLoading }) => !isLoading);
    expect(completion.current.error).toBeUndefined();
    expect(completion.current.completion).toBe("Once upon a time");
  });

  test("fills the object of useObject", async () => {
    const agent = scriptedAgent(['{"city":', '"Bern"}']);
    const { api } = await serveChat(agent, { protocol: "text" });
    const schema = z.object({ city: z.string() });
    const hook = await renderHook("experimental_useObject", { api, schema }, release);
    hook.current.submit({ prompt: "Where?" });
    await hook.until(({ object, isLoading }) => object !== undefined && !isLoading);
    expect(hook.current.object).toEqual({ city: "Bern" });
    expect(agent.inputs[0]!.messages).toMatchObject([{ role: "user", content: "Where?" }]);
  });
});

describe.for(sdks)("AI SDK $name", (sdk) => {
  test("reads plain text by TextStreamChatTransport, beside the other streams", async () => {
    const handler = createAgentHandler(scriptedAgent(["Hello ", "world"]), {
      logger: silentLogger,
      protocols: [vercel(), vercel({ path: "/api/text", protocol: "text" })],
    });
    const client = createChat(
      {
        ...sdk,
        module: { ...sdk.module, DefaultChatTransport: sdk.module.TextStreamChatTransport },
      },
      {
        api: "/api/text",
        fetch: (path: string, init: RequestInit): Promise<Loose> =>
          handler.fetch(new Request(`http://test.local${path}`, init)),
      },
    );
    await client.chat.sendMessage({ text: "hi" });
    expect(client.chat.error).toBeUndefined();
    expect(textOf(client.last)).toBe("Hello world");
  });
});

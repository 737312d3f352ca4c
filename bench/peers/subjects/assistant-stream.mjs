// assistant-ui's assistant-stream: a data stream response, on Hono's Node server.
import { createAdaptorServer } from "@hono/node-server";
import { createAssistantStreamResponse } from "assistant-stream";
import { listen, words } from "./_work.mjs";

export async function start() {
  const fetch = async (request) => {
    await request.json();
    return createAssistantStreamResponse(async (controller) => {
      for await (const delta of words()) controller.appendText(delta);
    });
  };
  return listen(createAdaptorServer({ fetch }));
}

// TanStack AI: its request parser and `toServerSentEventsResponse`, on Hono's Node server.
import { createAdaptorServer } from "@hono/node-server";
import { chatParamsFromRequestBody, toServerSentEventsResponse } from "@tanstack/ai";
import { listen, runEvents } from "./_work.mjs";

export async function start() {
  const fetch = async (request) => {
    const input = await chatParamsFromRequestBody(await request.json());
    return toServerSentEventsResponse(runEvents(input));
  };
  return listen(createAdaptorServer({ fetch }));
}

// Our handler with three middlewares that look at every event.
import { createServer } from "node:http";
import { createAgentHandler, mapEvents } from "@holodeck/agui";
import { toNodeHandler } from "@holodeck/agui-node";
import { listen, words } from "./_work.mjs";

export async function start() {
  const middleware = [1, 2, 3].map(() => mapEvents((event) => event));
  const handler = createAgentHandler(words, { middleware, limits: { maxSessions: 1_000_000 } });
  await handler.start();
  return listen(createServer(toNodeHandler(handler)));
}

// Our handler over Node's binding, as a host would write it: nothing switched off.
import { createServer } from "node:http";
import { createAgentHandler } from "@holodeck/agui";
import { toNodeHandler } from "@holodeck/agui-node";
import { listen, words } from "./_work.mjs";

export async function start() {
  const handler = createAgentHandler(words, { limits: { maxSessions: 1_000_000 } });
  await handler.start();
  return listen(createServer(toNodeHandler(handler)));
}

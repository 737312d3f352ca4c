import { createAgentHandler } from "@holodeck/agui";
import { serve } from "@holodeck/agui-node";
import type { Serving } from "@holodeck/agui-node";
import { createShop } from "./agent.ts";
import type { Orders } from "./agent.ts";

/** Serves the agent at `{url}/agui` until `close()`, SIGINT or SIGTERM. Port 0 takes any free one. */
export function start(port = 8000, orders: Orders = { "17": 12, "18": 250 }): Promise<Serving> {
  return serve(createAgentHandler({ shop: createShop(orders) }), { port });
}

import type { AgentObject } from "@holodeck/agui";
import { createToolLoopAgent, defineTool } from "@holodeck/agui-tools";
import { z } from "zod";
import { model } from "./model.ts";

/** What each order has cost. What was refunded is gone from it. */
export type Orders = Record<string, number>;

/** An agent of a shop: it looks up orders by itself, and refunds large ones only when a person agrees. */
export function createShop(orders: Orders): AgentObject {
  const findOrder = defineTool({
    name: "find_order",
    description: "Looks up what an order has cost.",
    parameters: z.object({ id: z.string() }),
    execute: ({ id }) => ({ id, cost: orders[id] ?? 0 }),
  });

  const refund = defineTool({
    name: "refund",
    description: "Pays the cost of an order back to the customer.",
    parameters: z.object({ id: z.string(), amount: z.number().positive() }),
    needsApproval: ({ amount }) => amount > 20,
    execute: ({ id, amount }) => {
      delete orders[id];
      return `Refunded ${amount} for order ${id}.`;
    },
  });

  return createToolLoopAgent({ generate: model, tools: [findOrder, refund] });
}

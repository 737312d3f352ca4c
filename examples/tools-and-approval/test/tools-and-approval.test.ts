import { clients } from "@holodeck/example-shared";
import type { Client, SeenEvent } from "@holodeck/example-shared";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Orders } from "../agent.ts";
import { start } from "../server.ts";

let server: Awaited<ReturnType<typeof start>>;
let orders: Orders;
beforeEach(async () => {
  orders = { "17": 12, "18": 250 };
  server = await start(0, orders);
});
afterEach(() => server.close());

interface Interrupt {
  readonly id: string;
  readonly toolCallId: string;
}

const interruptOf = (events: readonly SeenEvent[]): Interrupt | undefined =>
  (events.at(-1)?.outcome as { interrupts?: Interrupt[] } | undefined)?.interrupts?.[0];

const open = (client: Client) => client.open(`${server.url}/agui`);

describe.for(clients)("tools and approval with $name", (client) => {
  test("refunds a small order at once", async () => {
    const chat = open(client);
    const events = await chat.send("Refund order 17");
    const names = events.flatMap(({ toolCallName }) => toolCallName ?? []);
    expect(names).toEqual(["find_order", "refund"]);
    expect(interruptOf(events)).toBeUndefined();
    expect(chat.messages.at(-1)).toMatchObject({ content: "Refunded 12 for order 17." });
    expect(orders).toEqual({ "18": 250 });
    expect(chat.contentType).toBe(client.contentType);
  });

  test("asks before it refunds a large one, and does it after a yes", async () => {
    const chat = open(client);
    const asked = interruptOf(await chat.send("Refund order 18"))!;
    expect(chat.messages.at(-1)).toMatchObject({ toolCalls: [{ id: asked.toolCallId }] });
    expect(orders).toHaveProperty("18");
    const events = await chat.resume(asked.id, { approved: true });
    expect(events[1]).toMatchObject({ type: "TOOL_CALL_RESULT", toolCallId: asked.toolCallId });
    expect(chat.messages.at(-1)).toMatchObject({ content: "Refunded 250 for order 18." });
    expect(orders).toEqual({ "17": 12 });
  });

  test("refunds nothing after a no", async () => {
    const chat = open(client);
    const asked = interruptOf(await chat.send("Refund order 18"))!;
    await chat.resume(asked.id, { approved: false });
    expect(chat.messages.at(-1)).toMatchObject({ content: "I was not allowed to refund it." });
    expect(orders).toHaveProperty("18");
  });
});

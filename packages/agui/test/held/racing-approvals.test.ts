// Many answers to one question at once, over three handlers on one store: the call is made exactly once.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { held } from "../../../../scripts/test-support/held.ts";
import { createAgentHandler } from "../../src/index.ts";
import type { AgentHandler, ServerTool } from "../../src/index.ts";
import { eventsOf, memoryLogger, post } from "../_helpers.ts";
import { storeKinds } from "../_shared-stores.ts";
import type { SharedStore } from "../_shared-stores.ts";

const questions = 16;
const answersEach = 9;

/** A tool that counts its executions by the order it is for. */
function createPay(): { tool: ServerTool; paid: Map<string, number> } {
  const paid = new Map<string, number>();
  const tool = {
    name: "pay",
    description: "Pays an order.",
    parameters: { type: "object", properties: { order: { type: "string" } } },
    needsApproval: true,
    invoke: async ({ order }: { order: string }) => {
      paid.set(order, (paid.get(order) ?? 0) + 1);
      return `Paid ${order}.`;
    },
  };
  return { tool, paid };
}

interface Interrupts {
  readonly outcome?: { readonly interrupts?: readonly { readonly id: string }[] };
}

const bodyOf = (threadId: string, runId: string, more: object): object => ({
  threadId,
  runId,
  protocolVersion: "1.0",
  messages: [{ id: "m", role: "user", content: threadId }],
  ...more,
});

/** Asks on every thread, then sends all answers to a question at once, to one handler after the other. */
async function race(handlers: readonly AgentHandler[], prefix: string): Promise<number> {
  let sent = 0;
  for (let at = 0; at < questions; at++) {
    const threadId = `${prefix}-${at}`;
    const asked = await eventsOf(await handlers[0]!.fetch(post(bodyOf(threadId, `ask-${at}`, {}))));
    const interruptId = (asked.at(-1) as Interrupts).outcome?.interrupts?.[0]?.id;
    expect(interruptId).toBeDefined();
    const resume = [{ interruptId, status: "resolved", payload: { approved: true } }];
    await Promise.all(
      Array.from({ length: answersEach }, async (_, index) => {
        sent++;
        const body = bodyOf(threadId, `answer-${at}-${index}`, { resume });
        const handler = handlers[index % handlers.length]!;
        await (await handler.fetch(post(body))).text();
      }),
    );
  }
  return sent;
}

function createHandlers(stores: readonly SharedStore["owner"][], tool: ServerTool): AgentHandler[] {
  return stores.map((sessions) =>
    createAgentHandler(
      async ({ threadId, messages }, { callTool }) =>
        messages.at(-1)?.role === "user"
          ? String(await callTool("pay", { order: threadId }))
          : "Done.",
      { sessions, tools: [tool], logger: memoryLogger() },
    ),
  );
}

describe.for(storeKinds.filter(({ name }) => name !== "memory"))("approvals on $name", (kind) => {
  let store: SharedStore | undefined;
  beforeAll(async () => {
    store = await kind.open("racing approvals");
  });
  afterAll(() => store?.close());

  test("of one question are worth one execution, at three handlers at once", async ({ skip }) => {
    if (!store) return skip();
    const { tool, paid } = createPay();
    const handlers = createHandlers([store.owner, store.other!, store.owner], tool);
    const sent = await race(handlers, "order");
    const wrong = [...paid].filter(([, times]) => times !== 1);
    expect(paid.size).toBe(questions);
    held("answers to questions that are answered at once, on each store", sent, wrong);
  });
});

test("a call that is made for every answer is noticed", async () => {
  const { tool, paid } = createPay();
  const store = (await storeKinds[0]!.open("planted"))!;
  const [handler] = createHandlers([store.owner], { ...tool, needsApproval: false });
  for (const runId of ["one", "two"])
    await (await handler!.fetch(post(bodyOf("o", runId, {})))).text();
  expect(paid.get("o")).toBe(2);
});

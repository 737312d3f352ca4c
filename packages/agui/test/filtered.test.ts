import type { AgentLike, BaseEvent, Middleware, ServerTool } from "@holodeck/agui-core";
import { describe, expect, test } from "vitest";
import { createAgentHandler, redact, toolFilter } from "../src/index.ts";
import type { AgentHandler, AgentHandlerOptions } from "../src/index.ts";
import { eventsOf, memoryLogger, post } from "./_helpers.ts";

const secret = "sk-live-0123456789abcdef";
const outcome = "account 4242-9999";

const refund: ServerTool = {
  name: "refund",
  description: "Pays a customer back.",
  parameters: { type: "object", properties: { token: { type: "string" } } },
  needsApproval: true,
  invoke: async () => ({ outcome }),
};

const agent: AgentLike = async (_input, { callTool }) => {
  await callTool("refund", { token: secret });
  return "Done.";
};

interface Dialogue {
  readonly handler: AgentHandler;
  readonly asked: readonly BaseEvent[];
  readonly interruptId: string;
}

/** A thread whose run waits for the approval of `refund`. */
async function ask(options: AgentHandlerOptions): Promise<Dialogue> {
  const handler = createAgentHandler(agent, {
    tools: [refund],
    logger: memoryLogger(),
    authenticate: () => ({ id: "ada" }),
    ...options,
  });
  const messages = [{ id: "u1", role: "user", content: "refund me" }];
  const first = post({ threadId: "t", runId: "r1", messages, protocolVersion: "1.0" });
  const asked = await eventsOf(await handler.fetch(first));
  const { interrupts } = asked.at(-1)!.outcome as { interrupts: { id: string }[] };
  return { handler, asked, interruptId: interrupts[0]!.id };
}

async function approve(
  { handler, interruptId }: Dialogue,
  messages: readonly object[],
): Promise<BaseEvent[]> {
  const resume = [{ interruptId, status: "resolved", payload: { approved: true } }];
  const body = { threadId: "t", runId: "r2", messages, resume, protocolVersion: "1.0" };
  return eventsOf(await handler.fetch(post(body)));
}

const read = async ({ handler }: Dialogue, path: string): Promise<string> =>
  (await handler.fetch(new Request(`http://test.local${path}`))).text();

const connect = async ({ handler }: Dialogue): Promise<string> =>
  (await handler.fetch(post({ threadId: "t" }, { path: "/agui/agent/default/connect" }))).text();

/** What a client can read of the thread, by every way there is. */
async function everything(dialogue: Dialogue): Promise<string> {
  const paths = ["/agui/threads/t/events", "/agui/threads/t/messages", "/agui/threads/t"];
  const texts = await Promise.all(paths.map((path) => read(dialogue, path)));
  return [...texts, await connect(dialogue)].join("\n");
}

const filters: [string, Middleware][] = [
  ["toolFilter's redact", toolFilter({ redact: ["refund"] })],
  ["toolFilter's deny", toolFilter({ deny: ["refund"] })],
  ["redact()", redact()],
];

describe("while an approval is open", () => {
  test.each(filters)("no route shows the arguments that %s removed", async (_name, middleware) => {
    const dialogue = await ask({ middleware: [middleware] });
    expect(JSON.stringify(dialogue.asked)).not.toContain(secret);
    const shown = await everything(dialogue);
    expect(shown).not.toContain(secret);
    // The question itself is still there to be answered.
    expect(shown).toContain(dialogue.interruptId);
  });
});

describe("the run after an approval", () => {
  const rules: Parameters<typeof toolFilter>[0][] = [
    { deny: ["refund"] },
    { redact: ["refund"] },
    { allow: ["other"] },
  ];
  const cases = rules.flatMap((rule) =>
    (["client", "server"] as const).map((history) => ({ rule, history })),
  );

  test.each(cases)("shows no result under $rule, with history: $history", async (one) => {
    const { rule, history } = one;
    const middleware = toolFilter(rule);
    const dialogue = await ask({ middleware: [middleware], history });
    // A client may leave the message out that made the call.
    const events = await approve(dialogue, [{ id: "u1", role: "user", content: "refund me" }]);
    expect(events.at(-1)).toMatchObject({ type: "RUN_FINISHED" });
    expect(JSON.stringify(events)).not.toContain(outcome);
    expect(await everything(dialogue)).not.toContain(outcome);
  });
});

import type { Json, SessionStore } from "@holodeck/agui-core";
import { ulid } from "@holodeck/agui-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { AgentError, createAgentHandler } from "../src/index.ts";
import type { AgentHandler, AgentHandlerOptions } from "../src/index.ts";
import { memoryLogger, userMessage } from "./_helpers.ts";
import { storeKinds } from "./_shared-stores.ts";
import type { SharedStore } from "./_shared-stores.ts";

const KB = 1024;

/** A protocol's request for a run on a thread that does not exist. */
interface Wire {
  readonly name: string;
  readonly path: string;
  body(threadId: string, text: string): Json;
}

const toInput = (threadId: string, text: string): Json => ({
  threadId,
  runId: `run-${threadId}`,
  state: {},
  tools: [],
  context: [],
  forwardedProps: {},
  messages: [userMessage(text)],
});

const wires: readonly Wire[] = [
  { name: "AG-UI", path: "/agui", body: toInput },
  { name: "CopilotKit", path: "/agui/agent/default/run", body: toInput },
  {
    name: "useChat",
    path: "/api/chat",
    body: (id, text) => ({
      id,
      trigger: "submit-message",
      messages: [{ id: ulid(), role: "user", parts: [{ type: "text", text }] }],
    }),
  },
  {
    name: "REST",
    path: "/agent/default/chat",
    body: (session_id, message) => ({ session_id, message }),
  },
  {
    name: "threads",
    path: "/chat",
    // Its threads are named by the server.
    body: (_, message) => ({ message }),
  },
];

interface Refusal {
  readonly status: number;
  readonly options?: AgentHandlerOptions;
  readonly text?: string;
  readonly more?: Json;
  /** Only some protocols can send it, or refuse it. */
  readonly only?: readonly string[];
  readonly type?: string;
  /** Makes the request one too many. */
  readonly before?: (store: SessionStore) => unknown;
}

const failing = (): never => {
  throw new Error("away");
};

const refusals: Readonly<Record<string, Refusal>> = {
  "a body of another type": { status: 415, type: "application/xml" },
  "a body that is too large": {
    status: 413,
    options: { limits: { bodyBytes: 2 * KB } },
    text: "x".repeat(3 * KB),
  },
  "a body of too many values": {
    status: 413,
    options: { limits: { jsonNodes: 200 } },
    more: { context: Array.from({ length: 200 }, () => ({})) },
  },
  "a blank message": { status: 400, text: " " },
  "an answer to what was never asked": {
    status: 409,
    more: { resume: [{ interruptId: "i", status: "resolved", payload: true }] },
    only: ["AG-UI", "CopilotKit"],
  },
  "a thread that must exist": {
    status: 404,
    options: { onUnknownThread: "reject" },
    only: ["AG-UI", "CopilotKit", "useChat"],
  },
  "a state that is too large with its messages": {
    status: 413,
    options: { limits: { bodyBytes: 20 * KB, sessionBytes: 20 * KB } },
    // Written longer than it came: "1e20" becomes 21 digits.
    more: { state: { list: "numbers" } },
    only: ["AG-UI", "CopilotKit"],
  },
  "a caller that is not known": { status: 401, options: { authenticate: () => null } },
  "one run too many": {
    status: 429,
    options: {
      middleware: [
        { name: "full", admit: () => Promise.reject(new AgentError("rate-limited", "Later.")) },
      ],
    },
  },
  "one thread too many": {
    status: 429,
    options: { limits: { maxSessions: 1 } },
    before: async (store) =>
      store.create({ principal: "", threadId: ulid() }, { agentId: "default" }),
  },
  "files that are not taken": {
    status: 400,
    options: {
      files: {
        process: () => Promise.reject(new AgentError("invalid-request", "Not this file.")),
      },
    },
  },
  "resources that cannot be made": { status: 500, options: { createSession: failing } },
  "a state that cannot be shown": { status: 500, options: { exposeSessionState: failing } },
};

describe.each(storeKinds)("on $name, a request that is refused leaves nothing", (kind) => {
  let shared: SharedStore | undefined;
  beforeAll(async () => {
    shared = await kind.open("refused requests");
  }, 60_000);
  afterAll(() => shared?.close());

  const table = Object.entries(refusals).flatMap(([name, refusal]) =>
    wires
      .filter((wire) => !refusal.only || refusal.only.includes(wire.name))
      .map((wire) => ({ name, wire: wire.name, refusal, by: wire })),
  );

  test.for(table)("$wire: $name", async ({ refusal, by }, { skip }) => {
    if (!shared) return skip();
    const store = shared.owner;
    await emptied(store);
    await refusal.before?.(store);
    const before = await store.count!();
    const handler = createAgentHandler(async () => "never", {
      logger: memoryLogger(),
      ...refusal.options,
      sessions: store,
    });
    const threadId = ulid();
    const response = await send(handler, by, threadId, refusal);
    const text = await response.text();
    // CopilotKit's client reads what is wrong with a run from its events.
    const isEvent = by.name === "CopilotKit" && text.includes('"RUN_ERROR"');
    expect({ status: isEvent ? refusal.status : response.status, text }).toMatchObject({
      status: refusal.status,
    });
    expect(await store.count!()).toBe(before);
    expect(await store.get({ principal: "", threadId })).toBeUndefined();
    expect(await store.runs.active({ principal: "", threadId })).toBeUndefined();
    expect(await store.runs.find("", `run-${threadId}`)).toBeUndefined();
  });
});

async function send(
  handler: AgentHandler,
  wire: Wire,
  threadId: string,
  { text = "hi", more, type = "application/json" }: Refusal,
): Promise<Response> {
  const body = JSON.stringify({ ...wire.body(threadId, text), ...more });
  const numbers = `[${Array.from({ length: 1_500 }, () => "1e20").join(",")}]`;
  return handler.fetch(
    new Request(`http://test.local${wire.path}`, {
      method: "POST",
      headers: { "content-type": type },
      body: body.replace('"numbers"', numbers),
    }),
  );
}

async function emptied(store: SessionStore): Promise<void> {
  const { items } = await store.list({ principal: "", limit: 1_000 });
  for (const { principal, threadId } of items) await store.delete({ principal, threadId });
}

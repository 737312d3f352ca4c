import { EventType } from "@holodeck/agui";
import type {
  AgentFunction,
  AgentHandlerOptions,
  AgentMap,
  Message,
  ServerTool,
} from "@holodeck/agui";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createChat } from "../page/chat/state/create-chat.ts";
import type { Chat } from "../page/chat/state/create-chat.ts";
import { createMemory } from "../page/chat/state/memory.ts";
import type { Memory, Storage } from "../page/chat/state/memory.ts";
import { current, exchanges, state, wire } from "../page/model.ts";
import type { Wire } from "../page/model.ts";
import { startServer } from "./_server.ts";
import type { TestServer } from "./_server.ts";

let server: TestServer;
let memory: Memory;
let chat: Chat;
/** Lets an agent that waits go on. */
let goOn: () => void;
let waiting: Promise<void>;

beforeEach(() => {
  waiting = new Promise((resolve) => {
    goOn = resolve;
  });
  wire.value = "agui-sse";
});
afterEach(async () => {
  goOn();
  chat?.begin("default");
  await server?.close();
});

test("asks, and has the answer, its state and its suggestions", async () => {
  await open(async (_input, { emit, state }) => {
    await state.set({ plan: { title: "Trip", steps: [{ title: "Pack", status: "done" }] } });
    await emit.custom("suggested_questions", ["And then?"]);
    await emit.text("Hello.");
  });
  await chat.ask("Hi");
  expect(said()).toEqual(["user: Hi", "assistant: Hello."]);
  expect(chat.suggestions.value).toEqual(["And then?"]);
  expect(state.value.value).toMatchObject({ plan: { title: "Trip" } });
  expect(chat.status.value).toBe("idle");
  expect(exchanges.value).toEqual([current.value]);
  expect(memory.threads()).toMatchObject([{ id: chat.threadId.value, name: "Hi" }]);
});

test("remembers the conversation with the next question", async () => {
  await open(async (input) => `You said ${input.messages.length} things.`);
  await chat.ask("One");
  await chat.ask("Two");
  expect(said().at(-1)).toBe("assistant: You said 3 things.");
});

test("an answer is shown before it is whole", async () => {
  await open(async function* slow() {
    yield "First";
    await waiting;
    yield " and last.";
  });
  const asked = chat.ask("Hi");
  await expect.poll(() => said()).toEqual(["user: Hi", "assistant: First"]);
  expect([chat.status.value, chat.open.value.size]).toEqual(["running", 1]);
  goOn();
  await asked;
  expect(said().at(-1)).toBe("assistant: First and last.");
  expect(chat.open.value.size).toBe(0);
});

describe.each(["agui-sse", "agui-proto", "vercel"] as const)("over %s", (via) => {
  test("an approval is asked for, given and acted on", async () => {
    await openPaying(via);
    expect(chat.interrupts.value).toMatchObject([{ reason: "tool_call" }]);
    expect(chat.pending.value).toEqual([]);
    await chat.answerInterrupt(chat.interrupts.value[0]!.id, { approved: true });
    expect(said().at(-1)).toBe("assistant: Paid 50.");
    expect(chat.interrupts.value).toEqual([]);
  });

  test("an approval is denied", async () => {
    await openPaying(via);
    await chat.answerInterrupt(chat.interrupts.value[0]!.id, { approved: false, reason: "No." });
    expect(said().at(-1)).toMatch(/^assistant: Not paid/);
  });

  test("a tool of the page is answered, and the run goes on", async () => {
    await open(
      async (_input, { callTool }) => `So ${JSON.stringify(await callTool("pick_color"))}.`,
      via,
    );
    await chat.ask("Pick");
    expect(chat.pending.value).toMatchObject([{ function: { name: "pick_color" } }]);
    await chat.answerCall(chat.pending.value[0]!.id, { name: "red" });
    expect(said().at(-1)).toBe('assistant: So {"name":"red"}.');
    expect(chat.pending.value).toEqual([]);
  });

  test("several calls are answered in one run", async () => {
    await open(async (_input, { callTools }) => {
      const calls = ["pick_color", "get_location"].map((name) => ({ name, args: {} }));
      const outcomes = await callTools(calls);
      if (outcomes.some(({ status }) => status === "pending")) return;
      return outcomes.map((one) => JSON.stringify(one.result)).join(" ");
    }, via);
    await chat.ask("Both");
    const [color, place] = chat.pending.value;
    await chat.answerCall(place!.id, "Bern");
    expect(chat.answered.value.has(place!.id)).toBe(true);
    expect(exchanges.value).toHaveLength(1);
    await chat.answerCall(color!.id, "red");
    expect(exchanges.value).toHaveLength(2);
    expect(said().at(-1)).toBe('assistant: "red" "Bern"');
  });

  test("a connection that is cut is taken up again, and nothing is lost or doubled", async () => {
    await open(async function* slow() {
      yield "One ";
      await waiting;
      yield "two.";
    }, via);
    const asked = chat.ask("Count");
    await expect.poll(() => said().at(-1)).toBe("assistant: One ");
    server.cut();
    await expect.poll(() => exchanges.value.length).toBeGreaterThan(1);
    goOn();
    await asked;
    expect(said()).toEqual(["user: Count", "assistant: One two."]);
    expect(exchanges.value[0]!.status.value).toBe("cut");
    expect(current.value!.status.value).toBe("done");
    expect(chat.failure.value).toBeUndefined();
  });

  test("a run is stopped on the server", async () => {
    let reason: unknown;
    await open(async function* endless(_input, { signal }) {
      yield "Going on";
      await new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => {
          reason = signal.reason;
          reject(signal.reason as Error);
        });
      });
    }, via);
    const asked = chat.ask("Go");
    await expect.poll(() => said().at(-1)).toBe("assistant: Going on");
    await chat.stop();
    await asked;
    expect(reason).toMatchObject({ code: "stopped" });
    expect([chat.status.value, current.value!.status.value]).toEqual(["idle", "stopped"]);
    expect(chat.failure.value).toBeUndefined();
  });
});

test("over REST an answer that was cut is whole in the end", async () => {
  await open(async function* slow() {
    yield "One ";
    await waiting;
    yield "two.";
  }, "rest");
  const asked = chat.ask("Count");
  await expect.poll(() => said().at(-1)).toBe("assistant: One ");
  server.cut();
  await expect.poll(() => exchanges.value.length).toBeGreaterThan(1);
  goOn();
  await asked;
  expect(said()).toEqual(["user: Count", "assistant: One two."]);
});

test("the wire may change in the middle of a conversation", async () => {
  await open(async (input) => `${input.messages.filter(({ role }) => role === "user").length}`);
  for (const via of ["agui-sse", "rest", "vercel", "agui-proto"] as const) {
    wire.value = via;
    await chat.ask(via);
  }
  expect(said().filter((one) => one.startsWith("assistant"))).toEqual(
    ["1", "2", "3", "4"].map((count) => `assistant: ${count}`),
  );
});

test("a page that was reloaded comes back to its run", async () => {
  await open(async function* slow() {
    yield "One ";
    await waiting;
    yield "two.";
  });
  const asked = chat.ask("Count");
  await expect.poll(() => said().at(-1)).toBe("assistant: One ");
  const { value: threadId } = chat.threadId;
  expect(memory.openRun()).toEqual({ threadId, runId: current.value!.runId.value });
  // The old page is gone: its connection with it.
  const before = chat;
  const run = memory.openRun();
  before.begin("default");
  await asked;
  memory.rememberRun(run);
  chat = createChat({ base: server.base, memory });
  const opened = chat.openThread(threadId, "default");
  await expect.poll(() => said()).toEqual(["user: Count", "assistant: One "]);
  goOn();
  await opened;
  expect(said()).toEqual(["user: Count", "assistant: One two."]);
  expect(server.requests).toContain(`GET /agui/runs/${run!.runId}/events`);
  expect(memory.openRun()).toBeUndefined();
});

test("a thread is opened with its messages, its state and its open question", async () => {
  await openPaying("agui-sse");
  const { value: threadId } = chat.threadId;
  const [question] = chat.interrupts.value;
  chat.begin("default");
  expect(said()).toEqual([]);
  await chat.openThread(threadId, "default");
  expect(said()[0]).toBe("user: Pay");
  expect(chat.interrupts.value).toMatchObject([{ id: question!.id }]);
  await chat.answerInterrupt(question!.id, { approved: true });
  expect(said().at(-1)).toBe("assistant: Paid 50.");
});

test("a run that the server has forgotten is no failure: the thread is opened", async () => {
  await open(async () => "Hello.");
  await chat.ask("Hi");
  const { value: threadId } = chat.threadId;
  memory.rememberRun({ threadId, runId: "gone" });
  chat = createChat({ base: server.base, memory });
  await chat.openThread(threadId, "default");
  expect(said()).toEqual(["user: Hi", "assistant: Hello."]);
  expect(chat.failure.value).toBeUndefined();
});

test("an unknown thread is empty", async () => {
  await open(async () => "Hello.");
  await chat.openThread("01ARZ3NDEKTSV4RRFFQ69G5FAV", "default");
  expect([said(), chat.status.value, chat.failure.value]).toEqual([[], "idle", undefined]);
});

test("an answer is made again, and a question is edited", async () => {
  let runs = 0;
  await open(async (input) => `${++runs}: ${input.messages.at(-1)?.content as string}`);
  await chat.ask("A");
  await chat.regenerate();
  expect(said()).toEqual(["user: A", "assistant: 2: A"]);
  await chat.ask("B");
  const question = chat.messages.value.findLast(({ role }) => role === "user")!;
  await chat.ask("C", question.id);
  expect(said()).toEqual(["user: A", "assistant: 2: A", "user: C", "assistant: 4: C"]);
});

test("a failure is shown, and tried again", async () => {
  let runs = 0;
  await open(async () => {
    if (++runs === 1) throw new Error("secret");
    return "Now it works.";
  });
  await chat.ask("Try");
  expect(chat.failure.value).toMatch(/\S/);
  expect(chat.failure.value).not.toContain("secret");
  await chat.regenerate();
  expect(chat.failure.value).toBeUndefined();
  expect(said()).toEqual(["user: Try", "assistant: Now it works."]);
});

test("a question that the server did not take is not sent again with the next one", async () => {
  await open(async (input) => `${input.messages.length}`, "agui-sse", {
    limits: { messageChars: 10 },
  });
  await chat.ask("This is too long.");
  expect(chat.failure.value).toContain("10");
  await chat.ask("Short.");
  expect(said()).toEqual(["user: Short.", "assistant: 1"]);
});

test("a plan stays with the question that made it, whatever else the state comes to hold", async () => {
  const plan = { title: "Trip", steps: [{ title: "Pack", status: "done" }] };
  await open(async (input, { state }) => {
    const asked = input.messages.length;
    await state.set(asked === 1 ? { plan } : { plan, asked });
    return "Done.";
  });
  await chat.ask("Plan");
  const first = chat.messages.value[0]!.id;
  expect(chat.planTurn.value).toBe(first);
  await chat.ask("Something else");
  expect(state.value.value).toMatchObject({ asked: 3 });
  expect(chat.planTurn.value).toBe(first);
});

test("calls of a run that failed cannot be answered", async () => {
  await open(async (_input, { emit }) => {
    emit.toolCall("pick_color", {});
    throw new Error("broken");
  });
  await chat.ask("Pick");
  expect(chat.pending.value).toEqual([]);
});

test.each<Wire>(["agui-sse", "vercel", "rest"])(
  "a file goes with the question over %s",
  async (via) => {
    await open(
      async (input, { files }) =>
        `${JSON.stringify(input.messages.at(-1)?.content)} ${files.map(({ name }) => name).join()}`,
      via,
    );
    const value = btoa("Hello file");
    await chat.ask([
      { type: "text", text: "Read" },
      {
        type: "document",
        source: { type: "data", value, mimeType: "text/plain" },
        metadata: { filename: "note.txt" },
      },
    ]);
    const answer = said().at(-1)!;
    expect(answer).toContain("Read");
    expect(answer).toContain("note.txt");
    expect(answer.includes(value) || answer.includes("Hello file")).toBe(true);
  },
);

test("a delta of the state shows what it changed", async () => {
  await open(async (_input, { emit, state }) => {
    await state.set({ a: 1 });
    await emit.event({
      type: EventType.STATE_DELTA,
      delta: [{ op: "replace", path: "/a", value: 2 }],
    });
  });
  await chat.ask("Go");
  expect(state.value).toEqual({ value: { a: 2 }, changed: ["/a"] });
});

async function open(
  agent: AgentFunction,
  via: Wire = "agui-sse",
  options: AgentHandlerOptions = {},
): Promise<void> {
  wire.value = via;
  server = await startServer({ default: agent } satisfies AgentMap, options);
  memory = createMemory(storage(), storage());
  chat = createChat({ base: server.base, memory });
  chat.begin("default");
}

async function openPaying(via: Wire): Promise<void> {
  const pay: ServerTool = {
    name: "pay",
    description: "Pays.",
    needsApproval: true,
    invoke: (args) => `Paid ${String((args as { amount: number }).amount)}.`,
  };
  await open(
    async (_input, { callTools }) => {
      const [outcome] = await callTools([{ name: "pay", args: { amount: 50 } }]);
      if (outcome!.status === "pending") return;
      return outcome!.status === "done" ? String(outcome!.result) : "Not paid.";
    },
    via,
    { tools: [pay] },
  );
  await chat.ask("Pay");
}

function said(): string[] {
  return chat.messages.value.flatMap((message: Message) =>
    (message.role === "user" || message.role === "assistant") && message.content
      ? `${message.role}: ${message.content as string}`
      : [],
  );
}

function storage(): Storage {
  const kept = new Map<string, string>();
  return {
    getItem: (key) => kept.get(key) ?? null,
    setItem: (key, value) => void kept.set(key, value),
    removeItem: (key) => void kept.delete(key),
  };
}

import { runAgent } from "@holodeck/agui-testing";
import type { AgentFunction, Message } from "@holodeck/agui";
import { compose, isAgentError, mapEvents } from "@holodeck/agui";
import { describe, expect, test, vi } from "vitest";
import { z } from "zod";
import { defineTool, isHalted } from "../src/index.ts";

const pick = { name: "pick", description: "Asks for a colour.", parameters: { type: "object" } };
const clientTools = [pick, { ...pick, name: "confirm" }];

const toolMessage = (toolCallId: string, content: string, more: object = {}): Message => ({
  id: `m-${toolCallId}`,
  role: "tool",
  toolCallId,
  content,
  ...more,
});

const picking: AgentFunction = async (_input, { callTool }) => {
  const colour = await callTool("pick", { from: ["red", "blue"] });
  return `You took ${JSON.stringify(colour)}.`;
};

describe("a call of a client's tool", () => {
  test("is sent, and ends the run in order", async () => {
    const tidied = vi.fn();
    const { toolCalls, outcome, error, text } = await runAgent(
      async (input, context) => {
        try {
          return await (picking(input, context) as Promise<string>);
        } finally {
          tidied();
        }
      },
      { message: "hi", clientTools },
    );
    expect(toolCalls).toMatchObject([{ name: "pick", args: { from: ["red", "blue"] } }]);
    expect(outcome).toEqual({ type: "success", pendingToolCallIds: [toolCalls[0]!.id] });
    expect([text, error]).toEqual(["", undefined]);
    expect(tidied).toHaveBeenCalledOnce();
  });

  test("ends in order behind middleware, too", async () => {
    const { outcome, error } = await runAgent(picking, {
      clientTools,
      middleware: [mapEvents((event) => event)],
    });
    expect(outcome).toMatchObject({ type: "success", pendingToolCallIds: [expect.any(String)] });
    expect(error).toBeUndefined();
  });

  test("returns its answer in the run that brings it, and is not sent again", async () => {
    const first = await runAgent(picking, { message: "hi", clientTools });
    const { id } = first.toolCalls[0]!;
    const messages = [...first.messages, toolMessage(id, '{"colour":"red"}')];
    const second = await runAgent(picking, { after: first, messages, clientTools });
    expect(second.text).toBe('You took {"colour":"red"}.');
    expect(second.toolCalls).toEqual([]);
    expect(second.outcome).toEqual({ type: "success" });
  });

  test("is made again when the user sent a message instead", async () => {
    const first = await runAgent(picking, { message: "hi", clientTools });
    const { id } = first.toolCalls[0]!;
    const messages = [...first.messages, toolMessage(id, "red")];
    const again = await runAgent(picking, { messages, message: "No, ask again.", clientTools });
    expect(again.toolCalls).toHaveLength(1);
    expect(again.toolCalls[0]!.id).not.toBe(id);
  });

  test.for<[string, Message, string]>([
    ["text", toolMessage("c", "red"), '"red"'],
    ["an empty text", toolMessage("c", ""), '""'],
    ["null", toolMessage("c", "null"), "null"],
  ])("may be answered with %s", async ([, answer, words]) => {
    const call = {
      id: "c",
      type: "function" as const,
      function: { name: "pick", arguments: '{"from":["red","blue"]}' },
    };
    const messages: Message[] = [{ id: "a", role: "assistant", toolCalls: [call] }, answer];
    expect((await runAgent(picking, { messages, clientTools })).text).toBe(`You took ${words}.`);
  });

  test("that failed there fails here", async () => {
    const call = {
      id: "c",
      type: "function" as const,
      function: { name: "pick", arguments: '{"from":["red","blue"]}' },
    };
    const messages: Message[] = [
      { id: "a", role: "assistant", toolCalls: [call] },
      toolMessage("c", "", { error: "No colours here." }),
    ];
    const { error } = await runAgent(picking, { messages, clientTools });
    expect(error).toEqual({ code: "tool-error", message: "No colours here." });
  });

  test("that follows another gets the answers of both, question by question", async () => {
    const asking: AgentFunction = async (_input, { callTool }) => {
      const colour = await callTool("pick", {});
      const sure = await callTool("confirm", { colour });
      return `${String(colour)} ${String(sure)}`;
    };
    const first = await runAgent(asking, { message: "hi", clientTools });
    const one = [...first.messages, toolMessage(first.toolCalls[0]!.id, "red")];
    const second = await runAgent(asking, { messages: one, clientTools });
    expect(second.toolCalls).toMatchObject([{ name: "confirm", args: { colour: "red" } }]);
    const two = [...second.messages, toolMessage(second.toolCalls[0]!.id, "yes")];
    const third = await runAgent(asking, { messages: two, clientTools });
    expect([third.text, third.toolCalls]).toEqual(["red yes", []]);
  });

  test("that asks the same twice gets the answers in order", async () => {
    const untilYes: AgentFunction = async (_input, { callTool }) => {
      let asked = 1;
      while ((await callTool("confirm", {})) !== "yes") asked++;
      return `after ${asked}`;
    };
    const first = await runAgent(untilYes, { message: "hi", clientTools });
    const one = [...first.messages, toolMessage(first.toolCalls[0]!.id, "no")];
    const second = await runAgent(untilYes, { messages: one, clientTools });
    const two = [...second.messages, toolMessage(second.toolCalls[0]!.id, "yes")];
    expect((await runAgent(untilYes, { messages: two, clientTools })).text).toBe("after 2");
  });

  test("that is one of several at once is sent with them", async () => {
    const both: AgentFunction = async (_input, { callTool }) =>
      Promise.all([callTool("pick", {}), callTool("confirm", {})]);
    const { toolCalls, outcome } = await runAgent(both, { clientTools });
    expect(toolCalls.map(({ name }) => name)).toEqual(["pick", "confirm"]);
    expect(outcome).toMatchObject({ pendingToolCallIds: toolCalls.map(({ id }) => id) });
  });

  test("can be distinguished from a failure", async () => {
    const seen: boolean[] = [];
    await runAgent(
      async (_input, { callTool }) => {
        for (const name of ["pick", "nobody"]) {
          await callTool(name, {}).catch((error: unknown) => seen.push(isHalted(error)));
        }
      },
      { clientTools },
    );
    expect(seen).toEqual([true, false]);
  });

  test("suspends the subagent that made it", async () => {
    const { events, error } = await runAgent(
      async (_input, { emit, callTool }) => emit.subagent("helper", () => callTool("pick", {})),
      { clientTools },
    );
    expect(events.map(({ type }) => type)).not.toContain("SUBAGENT_ERROR");
    expect(events).toContainEqual(
      expect.objectContaining({ type: "SUBAGENT_FINISHED", outcome: { type: "suspended" } }),
    );
    expect(error).toBeUndefined();
  });

  test("is checked by what the server declares of it, and known without an offer", async () => {
    const declared = defineTool({
      name: "pick",
      description: "The server's word for it.",
      parameters: z.object({ from: z.array(z.string()) }),
      location: "client",
    });
    const seen = vi.fn();
    const agent: AgentFunction = async (input, context) => {
      seen(
        input.tools.map(({ name, description }) => `${name}: ${description}`),
        context.tools,
      );
      return context
        .callTools([
          { name: "pick", args: { from: 5 } },
          { name: "pick", args: { from: ["red"] } },
        ])
        .then((outcomes) => outcomes.map(({ status }) => status).join());
    };
    const { text, outcome, toolCalls } = await runAgent(agent, {
      tools: [declared],
      clientTools: [pick],
    });
    expect(text).toBe("failed,pending");
    expect(seen).toHaveBeenCalledWith(["pick: The server's word for it."], []);
    expect(outcome).toMatchObject({ pendingToolCallIds: [toolCalls[1]!.id] });
  });
});

function payTool(execute: () => unknown = () => "paid") {
  return defineTool({
    name: "pay",
    description: "Pays an amount of money.",
    parameters: z.object({ amount: z.number().positive() }),
    needsApproval: ({ amount }) => amount > 10,
    execute,
  });
}

const paying =
  (amount: number): AgentFunction =>
  async (_input, { callTool }) => {
    try {
      return `It is ${String(await callTool("pay", { amount }))}.`;
    } catch (error) {
      if (isHalted(error) || !isAgentError(error)) throw error;
      return `${error.code}: ${error.message}`;
    }
  };

const answer = (
  interruptId: string,
  payload: unknown,
  status: "resolved" | "cancelled" = "resolved",
) => [{ interruptId, status, payload }];

describe("a call that needs approval", () => {
  const ask = async (execute = vi.fn(() => "paid")) => {
    const tools = [payTool(execute)];
    const first = await runAgent(paying(50), { message: "Pay!", tools });
    const interrupts = first.outcome?.type === "interrupt" ? first.outcome.interrupts : [];
    return { tools, first, execute, interrupt: interrupts[0]! };
  };

  test("asks a person, names the call, and runs nothing", async () => {
    const { first, interrupt, execute } = await ask();
    expect(first.toolCalls).toMatchObject([{ name: "pay", args: { amount: 50 } }]);
    expect(first.toolCalls[0]).not.toHaveProperty("result");
    expect(interrupt).toMatchObject({
      reason: "tool_call",
      toolCallId: first.toolCalls[0]!.id,
      message: expect.stringContaining("pay"),
      responseSchema: { required: ["approved"] },
    });
    expect(interrupt.id).not.toBe(interrupt.toolCallId);
    expect(execute).not.toHaveBeenCalled();
  });

  test("runs once it is allowed, as the result of the call that was asked about", async () => {
    const { tools, first, execute, interrupt } = await ask();
    const resume = answer(interrupt.id, { approved: true });
    const second = await runAgent(paying(50), { after: first, resume, tools });
    expect(second.text).toBe("It is paid.");
    expect(execute).toHaveBeenCalledOnce();
    expect(second.toolCalls).toEqual([]);
    expect(second.events).toContainEqual(
      expect.objectContaining({ type: "TOOL_CALL_RESULT", toolCallId: interrupt.toolCallId }),
    );
    expect(second.messages.at(-2)).toMatchObject({ role: "tool", content: "paid" });
  });

  test.for<[string, unknown, "resolved" | "cancelled", string]>([
    ["a no", { approved: false, reason: "Too much." }, "resolved", "Too much."],
    ["anything but a clear yes", { approved: "true" }, "resolved", "did not allow"],
    ["nothing", undefined, "resolved", "did not allow"],
    ["a cancellation, whatever it says", { approved: true }, "cancelled", "did not allow"],
  ])("does not run after %s", async ([, payload, status, words]) => {
    const { tools, first, execute, interrupt } = await ask();
    const resume = answer(interrupt.id, payload, status);
    const second = await runAgent(paying(50), { after: first, resume, tools });
    expect(second.text).toMatch(/^approval-denied: /);
    expect(second.text).toContain(words);
    expect(execute).not.toHaveBeenCalled();
    expect(second.messages.at(-2)).toMatchObject({
      role: "tool",
      content: expect.stringContaining("approval-denied"),
    });
  });

  test("is asked about again when the agent wants something else than was allowed", async () => {
    const { tools, first, execute, interrupt } = await ask();
    const resume = answer(interrupt.id, { approved: true });
    const second = await runAgent(paying(5000), { after: first, resume, tools });
    // What was allowed is what runs.
    expect(execute).toHaveBeenCalledExactlyOnceWith({ amount: 50 }, expect.anything());
    expect(second.outcome).toMatchObject({ type: "interrupt" });
    expect(second.toolCalls).toMatchObject([{ args: { amount: 5000 } }]);
  });

  test("is allowed once: the same call again asks again", async () => {
    const { tools, first, execute, interrupt } = await ask();
    const twice: AgentFunction = async (_input, { callTools }) => {
      const args = { amount: 50 };
      const outcomes = await callTools([
        { name: "pay", args },
        { name: "pay", args },
      ]);
      return outcomes.map(({ status }) => status).join();
    };
    const resume = answer(interrupt.id, { approved: true });
    const second = await runAgent(twice, { after: first, resume, tools });
    expect(second.text).toBe("done,pending");
    expect(execute).toHaveBeenCalledOnce();
  });

  test("is not asked about when the tool does not want it, or its arguments are wrong", async () => {
    const execute = vi.fn(() => "paid");
    const tools = [payTool(execute)];
    expect((await runAgent(paying(5), { tools })).text).toBe("It is paid.");
    const wrong = await runAgent(paying(-1), { tools });
    expect(wrong.text).toMatch(/^invalid-arguments/);
    expect(wrong.outcome).toEqual({ type: "success" });
    expect(execute).toHaveBeenCalledOnce();
  });

  test("fails, and does not run, when it cannot be decided whether it needs one", async () => {
    const execute = vi.fn();
    const tool = defineTool({
      name: "pay",
      description: "Pays an amount of money.",
      needsApproval: () => Promise.reject(new Error("postgres://user:pw@db")),
      execute,
    });
    const { text, toolCalls } = await runAgent(paying(50), { tools: [tool] });
    expect(text).toBe('tool-error: The tool "pay" failed.');
    expect(toolCalls[0]?.result).not.toContain("postgres");
    expect(execute).not.toHaveBeenCalled();
  });

  test("is not run again by a later question of the same turn", async () => {
    const execute = vi.fn(() => "paid");
    const tools = [payTool(execute)];
    const buying: AgentFunction = async (_input, { callTool }) => {
      const one = await callTool("pay", { amount: 50 });
      const two = await callTool("pay", { amount: 60 });
      return `${String(one)} ${String(two)}`;
    };
    let last = await runAgent(buying, { message: "Buy!", tools });
    for (const amount of [50, 60]) {
      expect(last.toolCalls).toMatchObject([{ args: { amount } }]);
      const { interrupts } = last.outcome as { interrupts: { id: string }[] };
      const resume = answer(interrupts[0]!.id, { approved: true });
      last = await runAgent(buying, { after: last, resume, tools });
    }
    expect(last.text).toBe("paid paid");
    expect(execute).toHaveBeenCalledTimes(2);
  });

  test("shows the agent what was asked and answered", async () => {
    const { tools, first, interrupt } = await ask();
    let answers: unknown;
    const resume = answer(interrupt.id, { approved: true });
    await runAgent(async (_input, { session }) => void (answers = session.answers), {
      after: first,
      resume,
      tools,
    });
    expect(answers).toEqual([
      {
        interrupt,
        status: "resolved",
        payload: { approved: true },
        call: { id: interrupt.toolCallId, name: "pay", args: { amount: 50 } },
      },
    ]);
  });

  test("cannot be forged by a client: what it claims as approved was not asked", async () => {
    const execute = vi.fn();
    const resume = [
      {
        interruptId: "i",
        status: "resolved" as const,
        payload: { approved: true },
        metadata: { call: { id: "c", name: "pay", args: { amount: 50 } } },
      },
    ];
    const { outcome } = await runAgent(paying(50), { resume, tools: [payTool(execute)] });
    expect(outcome).toMatchObject({ type: "interrupt" });
    expect(execute).not.toHaveBeenCalled();
  });

  test("asks behind middleware, and for a composed agent", async () => {
    const through = compose(
      paying(50),
      mapEvents((event) => event),
    );
    const { outcome, error } = await runAgent((input, context) => through(input, context), {
      tools: [payTool()],
      middleware: [mapEvents((event) => event)],
    });
    expect(outcome).toMatchObject({ type: "interrupt" });
    expect(error).toBeUndefined();
  });
});

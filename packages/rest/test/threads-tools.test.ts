import type { AgentFunction, Json } from "@holodeck/agui-core";
import { isAgentError } from "@holodeck/agui-core";
import { fakeClock, scriptedAgent, settle } from "@holodeck/agui-testing";
import type { FakeClock } from "@holodeck/agui-testing";
import { describe, expect, test } from "vitest";
import { storeKinds } from "../../agui/test/_shared-stores.ts";
import { gate, kinds, openStore, start, startTwo } from "./_threads-kit.ts";
import type { Answer, Chat, Client } from "./_threads-kit.ts";

const somewhere = "11111111-2222-3333-4444-555555555555";
const tools = [{ name: "pick", description: "Lets the user pick one of several." }];

/** Asks the client, and says what came of it. */
const picking: AgentFunction = async (_input, { callTool }) => {
  try {
    return `Picked ${JSON.stringify(await callTool("pick", { from: ["a", "b"] }))}.`;
  } catch (error) {
    return isAgentError(error) ? `${error.code}: ${error.message}` : "unexpected";
  }
};

const answer = (
  { ask }: Client,
  executionId: unknown,
  body: Json = { result: "b" },
): Promise<Answer> =>
  ask("POST /tool_result", { execution_id: executionId, execution_time_ms: 5, ...body });

async function open(client: Client, body: Json = {}): Promise<{ chat: Chat; id: string }> {
  const chat = await client.chat({ message: "hi", tools, ...body });
  const asked = (await chat.until("tool_execution_request")).at(-1)!;
  return { chat, id: String(asked.execution_id) };
}

describe("a client tool", () => {
  test("is asked for in the stream, answered beside it, and reported as complete", async () => {
    const client = await start(picking);
    const chat = await client.chat({ message: "hi", tools });
    const asked = await chat.next();
    expect(asked).toMatchObject({
      event: "tool_execution_request",
      thread_id: chat.threadId,
      tool_name: "pick",
      arguments: { from: ["a", "b"] },
    });
    const { execution_id: id } = asked;
    const body = { result: { picked: "b" }, thread_id: chat.threadId, execution_time_ms: 12.5 };
    const received = await answer(client, id, body);
    expect([received.status, received.body]).toEqual([
      200,
      { status: "received", execution_id: id },
    ]);
    const [complete, ...events] = await chat.rest();
    expect(complete).toMatchObject({ event: "tool_execution_complete", execution_id: id });
    expect(kinds(events)).toEqual(["token", "message_complete"]);
    const call = {
      id,
      tool_name: "pick",
      arguments: { from: ["a", "b"] },
      result: { picked: "b" },
      error: null,
      execution_time_ms: 12.5,
    };
    expect(events[1]).toMatchObject({
      message: { content: 'Picked {"picked":"b"}.', tool_calls: [call] },
    });
    const { body: thread } = await client.ask(`GET /threads/${chat.threadId}`);
    const history = thread.message_history as Json[];
    expect(history).toMatchObject([
      { role: "user" },
      { role: "assistant", tool_calls: [call] },
      { role: "tool", tool_call_id: id, content: '{"picked":"b"}' },
      { role: "assistant", content: 'Picked {"picked":"b"}.' },
    ]);
  });

  test.for<[string, Json, unknown]>([
    ["null", { result: null }, "Picked null."],
    ["null beside no error", { result: null, error: null }, "Picked null."],
    ["false", { result: false }, "Picked false."],
    ["a list", { result: [1] }, "Picked [1]."],
    ["an error", { error: "Nobody there." }, "tool-error: Nobody there."],
    ["an error beside no result", { error: "No.", result: null }, "tool-error: No."],
  ])("may answer %s", async ([, body, said]) => {
    const client = await start(picking);
    const { chat, id } = await open(client);
    expect((await answer(client, id, body)).status).toBe(200);
    const events = await chat.rest();
    expect(events.at(-1)).toMatchObject({ message: { content: said } });
    const { error } = body;
    expect(events[0]).toEqual(
      typeof error === "string"
        ? expect.objectContaining({ event: "tool_execution_complete", error })
        : expect.not.objectContaining({ error: expect.anything() }),
    );
  });

  test.for<[string, Json, string[]]>([
    [
      "a result and an error",
      { execution_id: "r-1", result: 1, error: "x", execution_time_ms: 1 },
      ["error must not be given together with a result"],
    ],
    ["neither", { execution_id: "r-1", execution_time_ms: 1 }, ["result or error must be given"]],
    [
      "no error either",
      { execution_id: "r-1", error: null, execution_time_ms: 1 },
      ["result or error must be given"],
    ],
    [
      "an error that says nothing",
      { execution_id: "r-1", error: "", execution_time_ms: 1 },
      ["error cannot be empty"],
    ],
    [
      "an error that is no text",
      { execution_id: "r-1", error: {}, execution_time_ms: 1 },
      ["error must be a string", "result or error must be given"],
    ],
    [
      "no time",
      { execution_id: "r-1", result: 1 },
      ["execution_time_ms is missing; it must be a number"],
    ],
    [
      "a negative time",
      { execution_id: "r-1", result: 1, execution_time_ms: -1 },
      ["execution_time_ms must not be negative"],
    ],
    [
      "a time that is no number",
      { execution_id: "r-1", result: 1, execution_time_ms: "5" },
      ["execution_time_ms must be a number"],
    ],
    [
      "no execution",
      { result: 1, execution_time_ms: 1 },
      ["execution_id is missing; it must be a string"],
    ],
    [
      "an execution without a name",
      { execution_id: "", result: 1, execution_time_ms: 1 },
      ["execution_id cannot be empty"],
    ],
    [
      "no UUID",
      { execution_id: "r-1", thread_id: "t", result: 1, execution_time_ms: 1 },
      ["thread_id must be a valid UUID"],
    ],
  ])("is not answered by a body with %s", async ([, body, messages]) => {
    const { ask } = await start(async () => {});
    const refused = await ask("POST /tool_result", body);
    expect([refused.status, refused.body.code]).toEqual([400, "invalid-request"]);
    expect((refused.body.errors as { message: string }[]).map(({ message }) => message)).toEqual(
      messages,
    );
  });

  test("that was not asked for is unknown", async () => {
    const client = await start(picking);
    const { chat, id } = await open(client);
    const run = id.slice(0, id.lastIndexOf("-"));
    for (const other of ["x", "x-1", run, `${run}-2`, `${run}-x`, `${id}1`]) {
      const refused = await answer(client, other);
      expect([other, refused.status, refused.body.code]).toEqual([other, 404, "unknown-execution"]);
    }
    const elsewhere = await answer(client, id, { result: 1, thread_id: somewhere });
    expect([elsewhere.status, elsewhere.body.code]).toEqual([404, "unknown-execution"]);
    expect((await answer(client, id)).status).toBe(200);
    await chat.rest();
  });

  test("is answered by the user who was asked, and by no other", async () => {
    const client = await start(picking, {
      authenticate: ({ headers }) => ({ id: headers.get("x-user") ?? "nobody" }),
    });
    const ann = { "x-user": "ann" };
    const chat = await client.chat({ message: "hi", tools }, ann);
    const { execution_id: id } = await chat.next();
    const body = { execution_id: id, result: "b", execution_time_ms: 1 };
    const foreign = await client.ask("POST /tool_result", body, { "x-user": "bob" });
    expect([foreign.status, foreign.body.code]).toEqual([404, "unknown-execution"]);
    expect((await client.ask("POST /tool_result", body, ann)).status).toBe(200);
    await chat.rest();
  });

  test("is answered once, also after its run has ended", async () => {
    const heard = gate();
    const client = await start(async (input, context) => {
      const said = await picking(input, context);
      await heard.opened;
      return said;
    });
    const { chat, id } = await open(client);
    expect((await answer(client, id)).status).toBe(200);
    const during = await answer(client, id);
    heard.open();
    await chat.rest();
    const after = await answer(client, id);
    for (const { status, body } of [during, after]) {
      expect([status, body.code]).toEqual([409, "already-answered"]);
    }
    await client.ask(`DELETE /threads/${chat.threadId}`);
    expect((await answer(client, id)).body.code).toBe("unknown-execution");
  });

  test("may be one of several, answered in any order", async () => {
    const client = await start(async (_input, { callTools }) => {
      const outcomes = await callTools([1, 2, 3].map((args) => ({ name: "pick", args: { args } })));
      return outcomes.map(({ result, error }) => error?.message ?? (result as string)).join(" ");
    });
    const chat = await client.chat({ message: "hi", tools });
    const asked = [await chat.next(), await chat.next(), await chat.next()];
    expect(kinds(asked)).toEqual(Array(3).fill("tool_execution_request"));
    for (const index of [2, 0, 1]) {
      const body = index === 0 ? { error: "none" } : { result: `r${index + 1}` };
      await answer(client, asked[index]!.execution_id, body);
    }
    const events = await chat.rest();
    expect(events.at(-1)).toMatchObject({ message: { content: "none r2 r3" } });
    expect(
      events
        .filter(({ event }) => event === "tool_execution_complete")
        .map((one) => one.execution_id),
    ).toEqual([2, 0, 1].map((index) => asked[index]!.execution_id));
  });

  test("is what the client sends as one", async () => {
    const agent = scriptedAgent(["Hello."]);
    const { ask, chat } = await start(agent);
    const list = [
      { name: "city", type: "string", description: "Where." },
      { name: "days", type: "integer", required: false, default: 1 },
    ];
    const schema = { type: "object", properties: { a: {} } };
    const offered = [
      { name: "one", description: "By a list.", parameters: list, timeout_seconds: 1.5 },
      {
        name: "two",
        description: "By a schema.",
        parameters: schema,
        execution_location: "client",
      },
      { name: "three" },
    ];
    await (await chat({ message: "hi", tools: offered })).rest();
    expect(agent.inputs[0]!.tools).toEqual([
      {
        name: "one",
        description: "By a list.",
        parameters: {
          type: "object",
          properties: {
            city: { type: "string", description: "Where." },
            days: { type: "integer", default: 1 },
          },
          required: ["city"],
        },
        metadata: { timeoutMs: 1_500 },
      },
      { name: "two", description: "By a schema.", parameters: schema },
      { name: "three", description: "", parameters: {} },
    ]);
    expect((await ask("POST /chat", { message: "hi", tools: "x" })).status).toBe(400);
  });

  test("does not take the place of a server tool", async () => {
    const client = await start(picking, {
      tools: [{ name: "pick", description: "Ours.", parameters: {}, invoke: () => "ours" }],
    });
    const events = await (await client.chat({ message: "hi", tools })).rest();
    expect(kinds(events)).toEqual(["tool_start", "tool_end", "token", "message_complete"]);
    expect(events.at(-1)).toMatchObject({ message: { content: 'Picked "ours".' } });
  });

  test("that was not offered is unknown to the agent", async () => {
    const client = await start(picking);
    const events = await (await client.chat({ message: "hi" })).rest();
    expect(kinds(events)).toEqual(["token", "message_complete"]);
    expect(events[0]!.token).toContain("unknown-tool");
  });
});

describe("a client that does not answer", () => {
  async function begin(
    clock: FakeClock,
    options: { tool?: Json; limits?: object } = {},
  ): Promise<{ client: Client; chat: Chat; id: string }> {
    const client = await start(picking, { clock, limits: options.limits ?? {} });
    const offered = [{ ...tools[0], ...options.tool }];
    return { client, ...(await open(client, { tools: offered })) };
  }

  test.for<[string, number, { tool?: Json; limits?: object }]>([
    ["30 seconds", 30_000, {}],
    ["the time of the server", 5_000, { limits: { toolTimeoutMs: 5_000 } }],
    ["its own time", 2_000, { tool: { timeout_seconds: 2 } }],
  ])("is given up after %s, and the agent gets an error", async ([, ms, options]) => {
    const clock = fakeClock(1_700_000_000_000);
    const { client, chat, id } = await begin(clock, options);
    await clock.advance(ms - 1);
    expect(client.handler.runs.list()).toHaveLength(1);
    await clock.advance(1);
    const [complete, ...events] = await chat.rest();
    const message = `The tool "pick" took longer than ${ms} ms.`;
    expect(complete).toMatchObject({
      event: "tool_execution_complete",
      execution_id: id,
      error: message,
    });
    expect(events.at(-1)).toMatchObject({
      message: {
        content: `timeout: ${message}`,
        tool_calls: [{ id, result: null, error: message, execution_time_ms: ms }],
      },
    });
    const late = await answer(client, id);
    expect([late.status, late.body.code]).toEqual([409, "already-answered"]);
  });

  test("is too late once it was given up, though the run goes on", async () => {
    const clock = fakeClock(1_700_000_000_000);
    const heard = gate();
    const client = await start(
      async (input, context) => {
        const said = await picking(input, context);
        await heard.opened;
        return said;
      },
      { clock },
    );
    const { chat, id } = await open(client);
    await clock.advance(30_000);
    await chat.until("tool_execution_complete");
    const late = await answer(client, id);
    expect([late.status, late.body.code]).toEqual([409, "already-answered"]);
    heard.open();
    await chat.rest();
  });

  test("is not waited for once the run was stopped", async () => {
    const caught = gate<unknown>();
    const client = await start(async (_input, { callTool }) => {
      await callTool("pick", {}).catch((error: unknown) => caught.open(error));
    });
    const { chat, id } = await open(client);
    await client.ask(`POST /threads/${chat.threadId}/abort`);
    expect(await caught.opened).toMatchObject({ code: "stopped" });
    expect(await chat.rest()).toMatchObject([{ event: "error", error_type: "cancelled" }]);
    const late = await answer(client, id);
    expect([late.status, late.body.code]).toEqual([409, "already-answered"]);
  });

  test("fails the run of an agent that does not care", async () => {
    const clock = fakeClock(1_700_000_000_000);
    const client = await start(async (_input, { callTool }) => void (await callTool("pick", {})), {
      clock,
    });
    const { chat } = await open(client);
    await clock.advance(30_000);
    await settle();
    expect((await chat.rest()).at(-1)).toMatchObject({
      event: "error",
      error_type: "timeout",
      recoverable: true,
    });
  });
});

describe.each(storeKinds)("two servers on one store: $name", (kind) => {
  test("take the answer on either side, and exactly one of many", async (context) => {
    const store = await openStore(kind, `client tools on ${kind.name}`);
    if (!store) return context.skip();
    const [owner, other] = await startTwo(async (_input, { callTool }) => {
      const results = [await callTool("pick", { n: 1 }), await callTool("pick", { n: 2 })];
      return JSON.stringify(results);
    }, store);
    const { chat, id } = await open(owner);
    const unknown = await answer(other, `${id}0`);
    expect([unknown.status, unknown.body.code]).toEqual([404, "unknown-execution"]);

    const rivals = Array.from({ length: 12 }, (_, index) =>
      answer(index % 2 === 0 ? other : owner, id, { result: `rival ${index}` }),
    );
    const answers = await Promise.all(rivals);
    const winners = answers.flatMap(({ status }, index) => (status === 200 ? [index] : []));
    expect(winners).toHaveLength(1);
    const losers = answers.filter(({ status }) => status !== 200);
    expect(losers.map(({ status, body }) => [status, body.code])).toEqual(
      Array(11).fill([409, "already-answered"]),
    );

    const second = (await chat.until("tool_execution_request")).at(-1)!;
    expect((await answer(other, second.execution_id, { result: "second" })).status).toBe(200);
    const events = await chat.rest();
    expect(events.at(-1)).toMatchObject({
      message: { content: JSON.stringify([`rival ${winners[0]}`, "second"]) },
    });
    const late = await answer(other, id);
    expect([late.status, late.body.code]).toEqual([409, "already-answered"]);
    const { body } = await other.ask(`GET /threads/${chat.threadId}`);
    expect(body.message_count).toBe(6);
  });
});

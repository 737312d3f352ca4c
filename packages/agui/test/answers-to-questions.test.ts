import type { InterruptAnswer, Message, Pending, ServerTool, TakenCall } from "@holodeck/agui-core";
import { fakeClock } from "@holodeck/agui-testing";
import { describe, expect, test } from "vitest";
import { createAgentHandler, memorySessions } from "../src/index.ts";
import type { AgentFunction } from "../src/index.ts";
import { eventsOf, memoryLogger, post } from "./_helpers.ts";
import { toLine, toMessages } from "./_message-notation.ts";

const key = { principal: "", threadId: "t" };
const now = Date.UTC(2026, 0, 1);
const at = (ms: number): string => new Date(now + ms).toISOString();

const question = (id: string, value: object = {}): Pending => ({
  id,
  kind: "interrupt",
  runId: "r0",
  value: { id, reason: "confirmation", ...value },
});
const yes = (interruptId: string): object => ({
  interruptId,
  status: "resolved",
  payload: { approved: true },
});

interface Played {
  readonly status: number;
  readonly code?: string;
  readonly answers: readonly InterruptAnswer[];
  readonly paid: readonly unknown[];
  /** What the agent is given, in the notation of `toMessages`. */
  readonly sees: string;
  readonly results: readonly unknown[];
  /** What the thread waits for after the run. */
  readonly pending: readonly Pending[];
  /** What is stored of the calls that the run is about to make, or to refuse. */
  readonly taken: readonly TakenCall[] | undefined;
}

interface Scene {
  readonly thread?: string;
  readonly waits?: readonly Pending[];
  readonly sends?: string;
  /** Calls that the last run had taken when its process ended. */
  readonly lost?: readonly TakenCall[];
  readonly owner?: "client" | "server";
  readonly resume?: readonly object[];
  readonly agent?: AgentFunction;
  readonly needsApproval?: ServerTool["needsApproval"];
}

async function play(scene: Scene): Promise<Played> {
  const sessions = memorySessions();
  await sessions.create(key, { agentId: "default" });
  await sessions.update(key, {
    messages: toMessages(scene.thread ?? "u1"),
    lastRunId: "r0",
    historyOwner: scene.owner ?? "client",
    pending: scene.waits ?? [],
    ...(scene.lost ? { active: { runId: "gone", offset: 0, open: [], taken: scene.lost } } : {}),
  });
  const paid: unknown[] = [];
  const pay: ServerTool = {
    name: "pay",
    description: "Pays.",
    parameters: { type: "object" },
    needsApproval: scene.needsApproval ?? true,
    invoke: (args) => `paid ${paid.push(args)}`,
  };
  let answers: readonly InterruptAnswer[] = [];
  let given: readonly Message[] = [];
  let taken: readonly TakenCall[] | undefined;
  const handler = createAgentHandler(
    async (input, context) => {
      answers = context.session.answers;
      given = input.messages.slice();
      taken = (await sessions.get(key))!.active!.taken;
      return scene.agent?.(input, context) as undefined;
    },
    { tools: [pay], sessions, logger: memoryLogger(), clock: fakeClock(now) },
  );
  const response = await handler.fetch(
    post({
      threadId: "t",
      runId: "r1",
      protocolVersion: "1.0",
      messages: toMessages(scene.sends ?? scene.thread ?? "u1"),
      ...(scene.resume ? { resume: scene.resume } : {}),
    }),
  );
  const { status } = response;
  const code = response.ok ? undefined : ((await response.json()) as { code: string }).code;
  const events = response.ok ? await eventsOf(response) : [];
  const results = events.flatMap((event) =>
    event.type === "TOOL_CALL_RESULT"
      ? [JSON.parse(String(event.content).replace(/^paid.*/, '"$&"'))]
      : [],
  );
  const { pending } = (await sessions.get(key))!;
  return {
    status,
    ...(code ? { code } : {}),
    answers,
    paid,
    sees: toLine(given),
    results,
    pending,
    taken,
  };
}

describe("an answer to a question", () => {
  test.for<[string, Pending[], object[], number]>([
    ["that is open", [question("i1")], [yes("i1")], 200],
    ["that is one of two", [question("i1"), question("i2")], [yes("i2")], 200],
    ["beside another", [question("i1"), question("i2")], [yes("i2"), yes("i1")], 200],
    ["to nothing", [question("i1")], [], 200],
    ["that was not asked", [question("i1")], [yes("i2")], 409],
    ["beside one that was not asked", [question("i1")], [yes("i1"), yes("i2")], 409],
    ["given twice", [question("i1")], [yes("i1"), yes("i1")], 409],
    ["that is a call of the client's", [{ ...question("i1"), kind: "tool" }], [yes("i1")], 409],
    ["before its time is over", [question("i1", { expiresAt: at(1) })], [yes("i1")], 200],
    ["when its time is over", [question("i1", { expiresAt: at(0) })], [yes("i1")], 409],
    ["after its time", [question("i1", { expiresAt: at(-1) })], [yes("i1")], 409],
    ["whose time is no date", [question("i1", { expiresAt: "soon" })], [yes("i1")], 200],
    ["whose time is no text", [question("i1", { expiresAt: now - 1 })], [yes("i1")], 200],
    ["whose time is the number of a year", [question("i1", { expiresAt: 2020 })], [yes("i1")], 200],
  ])("%s", async ([, waits, resume, status]) => {
    const played = await play({ waits, resume });
    expect([played.status, played.code]).toEqual([
      status,
      status === 200 ? undefined : "unknown-interrupt",
    ]);
    expect(played.answers.map(({ interrupt }) => interrupt.id)).toEqual(
      status === 200 ? resume.map((one) => (one as { interruptId: string }).interruptId) : [],
    );
  });

  test("is given to the agent with its question, and the call that it is about", async () => {
    const call = { id: "c1", name: "look", args: { n: 1 } };
    const waits = [question("i1", { toolCallId: "c1", call }), question("i2")];
    const { answers } = await play({
      waits,
      resume: [yes("i1"), { interruptId: "i2", status: "cancelled" }],
    });
    expect(answers).toStrictEqual([
      {
        interrupt: { id: "i1", reason: "confirmation", toolCallId: "c1" },
        status: "resolved",
        payload: { approved: true },
        call,
      },
      { interrupt: { id: "i2", reason: "confirmation" }, status: "cancelled" },
    ]);
  });
});

describe("a call that a person was asked about", () => {
  const call = { id: "c1", name: "pay", args: { n: 1 } };
  const asked = {
    thread: "u1 a1[c1=pay/1]",
    waits: [question("i1", { toolCallId: "c1", call })],
  };

  test("is made on a clear yes, with what was asked about", async () => {
    expect(await play({ ...asked, resume: [yes("i1")] })).toMatchObject({
      paid: [{ n: 1 }],
      results: ["paid 1"],
      sees: "u1 a1[c1=pay/1] >c1:paid 1",
      pending: [],
    });
  });

  test.for<[string, object, string]>([
    ["a no", { status: "resolved", payload: { approved: false } }, "."],
    ["a yes in other words", { status: "resolved", payload: { approved: "true" } }, "."],
    ["a yes to something else", { status: "resolved", payload: { allowed: true } }, "."],
    ["nothing", { status: "resolved" }, "."],
    ["a yes that was taken back", { status: "cancelled", payload: { approved: true } }, "."],
    ["a reason", { status: "resolved", payload: { approved: false, reason: "No." } }, ": No."],
    ["an empty reason", { status: "resolved", payload: { reason: "" } }, "."],
    ["a reason that is no text", { status: "resolved", payload: { reason: 7 } }, "."],
    [
      "a reason of more than 500 characters",
      { status: "resolved", payload: { reason: `>${"x".repeat(600)}` } },
      `: >${"x".repeat(499)}`,
    ],
  ])("is refused on %s", async ([, answer, ending]) => {
    const played = await play({ ...asked, resume: [{ interruptId: "i1", ...answer }] });
    const message = `The user did not allow "pay"${ending}`;
    expect(played).toMatchObject({
      status: 200,
      paid: [],
      results: [{ error: { code: "approval-denied", message } }],
      pending: [],
    });
  });
});

describe("a tool that asks", () => {
  const calling: AgentFunction = async (_input, { callTool }) => {
    await callTool("pay", { n: 1 });
    return undefined;
  };

  test("sends the question, its schema and its call, and the thread waits for it", async () => {
    const { paid, pending } = await play({ agent: calling });
    expect(paid).toEqual([]);
    expect(pending).toEqual([
      {
        id: expect.any(String),
        kind: "interrupt",
        runId: "r1",
        value: {
          id: pending[0]!.id,
          reason: "tool_call",
          message: 'Allow "pay"?',
          toolCallId: expect.any(String),
          responseSchema: {
            type: "object",
            properties: { approved: { type: "boolean" }, reason: { type: "string" } },
            required: ["approved"],
          },
          call: { id: pending[0]!.value.toolCallId, name: "pay", args: { n: 1 } },
        },
      },
    ]);
  });

  test.for([
    [true, 0],
    [false, 1],
  ] as const)("decides by the call: %s", async ([isAsked, calls]) => {
    const seen: unknown[] = [];
    const { paid } = await play({
      agent: calling,
      needsApproval: (args) => {
        seen.push(args);
        return isAsked;
      },
    });
    expect(seen).toEqual([{ n: 1 }]);
    expect(paid).toHaveLength(calls);
  });
});

describe("what a thread waits for after a run", () => {
  const waiting = (id: string): Pending => ({ id, kind: "tool", runId: "r0", value: {} });
  const ids = ({ pending }: Played): object =>
    pending.map(({ id, kind, runId }) => [id, kind, runId]);

  test("is nothing when nothing was asked", async () => {
    expect(ids(await play({}))).toEqual([]);
  });

  test("is a call of the client's that has no result", async () => {
    const agent: AgentFunction = async (_input, { emit }) => {
      emit.toolCall("look", {}, { id: "c1" });
    };
    expect(ids(await play({ agent }))).toEqual([["c1", "tool", "r1"]]);
  });

  test("are earlier calls that the client has not answered, and not those that it has", async () => {
    const played = await play({
      thread: "u1 a1[c1=look,c2=look]",
      waits: [waiting("c1"), waiting("c2")],
      sends: "u1 a1[c1=look,c2=look] r2>c2:42",
    });
    expect(ids(played)).toEqual([["c1", "tool", "r0"]]);
  });

  test("are no calls that the thread does not have, and no question that the user passed over", async () => {
    const played = await play({ waits: [waiting("c9"), question("i1")] });
    expect(ids(played)).toEqual([]);
  });

  test("is a call once, though it waited before", async () => {
    const played = await play({
      thread: "u1 a1[c1=look]",
      waits: [waiting("c1")],
      agent: async (_input, { emit }) => {
        emit.toolCall("look", {}, { id: "c2" });
      },
    });
    expect(ids(played)).toEqual([
      ["c1", "tool", "r0"],
      ["c2", "tool", "r1"],
    ]);
  });

  test("is a question of the agent's own, about a call or about none", async () => {
    const played = await play({
      agent: async (_input, { emit }) => {
        emit.toolCall("look", {}, { id: "c1" });
        emit.toolCall("look", {}, { id: "c2" });
        emit.interrupt({ reason: "confirmation", toolCallId: "c1" });
        emit.interrupt({ reason: "confirmation" });
      },
    });
    expect(played.pending.map(({ kind, value }) => [kind, value.toolCallId, value.call])).toEqual([
      ["tool", undefined, undefined],
      ["interrupt", "c1", undefined],
      ["interrupt", undefined, undefined],
    ]);
    expect(played.pending[0]).toMatchObject({ id: "c2" });
  });
});

describe("what a run is about to do with calls that were asked about", () => {
  const no = { interruptId: "i2", status: "resolved", payload: { approved: false } };

  test("is stored with it: calls of the server, allowed or not", async () => {
    const { taken } = await play({
      thread: "u1 a1[c1=pay/1,c2=pay/2]",
      waits: [
        question("i1", { toolCallId: "c1", call: { id: "c1", name: "pay", args: { n: 1 } } }),
        question("i2", { toolCallId: "c2", call: { id: "c2", name: "pay", args: { n: 2 } } }),
      ],
      resume: [yes("i1"), no],
    });
    expect(taken).toEqual([
      { id: "c1", name: "pay", args: { n: 1 }, isApproved: true },
      { id: "c2", name: "pay", args: { n: 2 }, isApproved: false },
    ]);
  });

  test("is stored with what was asked about, whatever the thread shows of it", async () => {
    const { taken } = await play({
      owner: "server",
      thread: "u1 a1[c1=pay/9]",
      waits: [
        question("i1", { toolCallId: "c1", call: { id: "c1", name: "pay", args: { n: 1 } } }),
      ],
      resume: [yes("i1")],
    });
    expect(taken).toEqual([{ id: "c1", name: "pay", args: { n: 1 }, isApproved: true }]);
  });

  test.for<[string, string, unknown]>([
    ["c1=look/1", "with its arguments", { n: 1 }],
    ["c1=look!", "without arguments", {}],
    ["c1=look?", "with what is no JSON", "nonsense"],
  ])(
    "is stored with it: a call that the agent asked about itself (%s), %s",
    async ([call, , args]) => {
      const { taken } = await play({
        thread: `u1 a0[c0=look] a1[c9=look,${call}] u2`,
        waits: [question("i1", { toolCallId: "c1" })],
        resume: [yes("i1")],
      });
      expect(taken).toEqual([{ id: "c1", name: "look", args, isApproved: true }]);
    },
  );

  test.for<[string, Pending]>([
    ["about no call", question("i1")],
    ["about a call that the thread does not have", question("i1", { toolCallId: "c7" })],
  ])("is nothing for a question %s", async ([, asked]) => {
    const { taken } = await play({
      thread: "u1 a1[c1=look]",
      waits: [asked],
      resume: [yes("i1")],
    });
    expect(taken).toBeUndefined();
  });

  test("is nothing when nothing was answered", async () => {
    expect((await play({ waits: [question("i1")] })).taken).toBeUndefined();
  });
});

describe("calls that a lost run had taken", () => {
  const lost = ["c1", "c2", "c3"].map((id) => ({ id, name: "pay", args: {}, isApproved: true }));
  const thread = "u1 a1[c0=look,c1=pay] r0>c0:42 a2[c2=pay,c3=pay] r2>c2:42";

  test("have an error each after their message, and only those without a result", async () => {
    const played = await play({ owner: "server", thread, lost, sends: "u2" });
    const shown = played.sees.replaceAll(
      /\{"error":\{"code":"([a-z-]+)","message":"(?:[^"\\]|\\.)+"\}\}/g,
      "$1",
    );
    expect(shown).toBe(
      "u1 a1[c0=look,c1=pay] >c1:run-lost r0>c0:42 a2[c2=pay,c3=pay] >c3:run-lost r2>c2:42 u2",
    );
    expect(played.taken!.map(({ id }) => id)).toEqual(["c1", "c3"]);
    expect(played.paid).toEqual([]);
  });

  test("are left alone when all of them have a result", async () => {
    const played = await play({ owner: "server", thread, lost: [lost[1]!], sends: "u2" });
    expect(played.sees).toBe(`${thread} u2`);
    expect(played.taken).toBeUndefined();
  });
});

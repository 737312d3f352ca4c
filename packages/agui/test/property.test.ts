import { AbstractAgent } from "@ag-ui/client";
import type { BaseEvent, Message, Middleware } from "@holodeck/agui-core";
import { mapEvents } from "@holodeck/agui-core";
import * as fc from "fast-check";
import { from } from "rxjs";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { effort } from "../../../scripts/test-support/effort.ts";
import { anything } from "../../core/test/guard-arbitraries.ts";
import { validRun } from "../../core/test/guard-valid-runs.ts";
import { createAgentHandler } from "../src/index.ts";
import { agentKinds, plannedAgent } from "./_agent-kinds.ts";
import type { Plan } from "./_agent-kinds.ts";
import { memoryLogger } from "./_helpers.ts";
import { intendedState, lossesOf, onTheWire, stateAfter } from "./_losses.ts";
import { ask, isTerminal, sse, wires } from "./_wires.ts";
import type { Received, Wire } from "./_wires.ts";

const numRuns = Number(process.env.SERVER_RUNS ?? effort(150, 40));
const ids = { threadId: "thread", runId: "run" };

interface Scenario extends Plan {
  readonly kind: string;
  readonly middleware: readonly Middleware[];
  readonly history: readonly Message[];
  readonly state: Record<string, unknown>;
}

const passThrough: readonly Middleware[] = [
  (input, context, next) => next(input, context),
  mapEvents((event) => event),
];

const histories: readonly (readonly Message[])[] = [
  [],
  [{ id: "u", role: "user", content: "hi" }],
  [
    { id: "u", role: "user", content: [{ type: "text", text: "hi" }] },
    {
      id: "b",
      role: "assistant",
      content: "yes",
      toolCalls: [{ id: "c", type: "function", function: { name: "look", arguments: "{}" } }],
    },
    { id: "t", role: "tool", toolCallId: "c", content: "seen" },
  ],
];

const surroundings = {
  kind: fc.constantFrom(...agentKinds),
  middleware: fc.constantFrom([], [], passThrough),
  history: fc.constantFrom(...histories),
  state: fc.constantFrom<Record<string, unknown>[]>({}, { x: 1 }, { x: { y: [] }, list: [] }),
};

const scenario: fc.Arbitrary<Scenario> = fc.record({
  ...surroundings,
  values: fc.array(anything, { maxLength: 30 }),
  end: fc.constantFrom("return", "return", "throw", "hang"),
});

interface Outcome extends Received {
  readonly session: { readonly messages: readonly Message[]; readonly state: unknown };
  readonly repairs: readonly unknown[];
}

/** One run through a whole server: request bytes in, response bytes out. */
async function serveOnce(wire: Wire, plan: Scenario): Promise<Outcome> {
  const { agent, hangs } = plannedAgent(plan.kind, plan);
  const logger = memoryLogger();
  const handler = createAgentHandler(agent, { middleware: plan.middleware, logger });
  const response = await handler.fetch(
    ask(wire, "http://test.local/agui", { ...ids, messages: plan.history, state: plan.state }),
  );
  expect(response.headers.get("content-type")).toBe(wire.contentType);
  const reading = wire.read(response);
  await Promise.race([hangs, reading]);
  await handler.runs.stop(ids.runId);
  const received = await reading;
  const session = await handler.sessions.get({ principal: "", threadId: ids.threadId });
  await handler.close();
  expect(session?.lastRunId).toBe(ids.runId);
  return {
    ...received,
    session: session!,
    repairs: logger.records.filter((record) => "repairs" in record),
  };
}

// Hundreds of servers: seconds on a busy machine, minutes with more runs.
describe.for(wires)(
  "a client of $name, whatever the agent sends",
  { timeout: 3_600_000 },
  (wire) => {
    const { isLegacy } = wire;
    // The official client tells the console about unusual but legal things.
    beforeAll(() => void vi.spyOn(console, "warn").mockImplementation(() => undefined));
    afterAll(() => void vi.restoreAllMocks());

    async function forAll<T>(
      cases: fc.Arbitrary<T>,
      check: (one: T) => Promise<void>,
    ): Promise<void> {
      await fc.assert(fc.asyncProperty(cases, check), { numRuns });
    }

    test("gets a run that its verifier and schemas accept, with one end and unbroken ids", () =>
      forAll(scenario, async (plan) => {
        const { events, ids } = await serveOnce(wire, plan);
        expect(wire.faults(events)).toEqual([]);
        expect(events.filter(isTerminal)).toEqual([events.at(-1)]);
        expect(JSON.stringify(events)).not.toContain("secret of the agent");
        if (!ids) return;
        if (!isLegacy) expect(ids).toEqual(events.map((_, index) => String(index + 1)));
        // An older client is not told everything, and never twice or out of order.
        const numbers = ids.map(Number);
        expect(numbers[0]).toBe(1);
        expect(numbers.every((id, at) => at === 0 || id > numbers[at - 1]!)).toBe(true);
      }));

    test("receives how the run ended", () =>
      forAll(scenario, async (plan) => {
        const { events } = await serveOnce(wire, plan);
        const own = plan.values.find((value) => isEnd(value));
        const last = events.at(-1)!;
        if (own) expect(last.type).toBe(own.type);
        else if (plan.end === "throw") {
          expect(last).toMatchObject({ type: "RUN_ERROR", message: "The agent failed." });
          expect(last.code).toBe("agent-error");
        } else if (plan.end === "hang") {
          const cancelled = isLegacy
            ? { result: { status: "cancelled" } }
            : { outcome: { type: "cancelled" } };
          expect(last).toEqual({ type: "RUN_FINISHED", ...ids, ...cancelled });
        } else expect(last).toMatchObject({ type: "RUN_FINISHED", ...ids });
      }));

    test("loses no delta, state, step or activity", () =>
      forAll(scenario, async (plan) => {
        const { events, session } = await serveOnce(wire, plan);
        expect(lossesOf(plan.values, events, isLegacy)).toEqual([]);
        const state = stateAfter(plan.state, events);
        expect(state).toEqual(session.state);
        expect(state).toEqual(intendedState(plan.state, plan.values));
      }));

    test("gets a valid run as the agent made it", () =>
      forAll(fc.record({ ...surroundings, values: validRun }), async (plan) => {
        const { events, repairs } = await serveOnce(wire, { ...plan, end: "return" });
        const said = onTheWire(plan.values) as BaseEvent[];
        expect(events).toEqual(isLegacy ? said.flatMap(forOlderClients) : said);
        expect(repairs).toEqual([]);
      }));
  },
);

describe("the session, whatever the agent sends", { timeout: 3_600_000 }, () => {
  beforeAll(() => void vi.spyOn(console, "warn").mockImplementation(() => undefined));
  afterAll(() => void vi.restoreAllMocks());

  test("holds the messages and the state that the official client ends up with", () =>
    fc.assert(
      fc.asyncProperty(scenario, async (plan) => {
        const { events, session } = await serveOnce(sse, plan);
        const client = new Replayed(events, plan);
        await client.runAgent({ runId: ids.runId });
        // Of two messages with one id, the client makes one object by a snapshot.
        const names = client.messages.map(({ id }) => id);
        const hasTwins = new Set(names).size < names.length;
        if (hasTwins && events.some(({ type }) => type === "MESSAGES_SNAPSHOT")) {
          expect(session.messages.map(({ id }) => id)).toEqual(names);
        } else expect(session.messages.map(knownOnly)).toEqual(client.messages.map(knownOnly));
        expect(session.state).toEqual(client.state);
      }),
      { numRuns },
    ));
});

/** The official client, fed with what came over the wire. */
class Replayed extends AbstractAgent {
  readonly #events: readonly BaseEvent[];

  constructor(events: readonly BaseEvent[], { history, state }: Scenario) {
    super({
      threadId: ids.threadId,
      initialMessages: structuredClone(history) as Message[],
      initialState: structuredClone(state),
    });
    this.#events = structuredClone(events);
  }

  run(): ReturnType<AbstractAgent["run"]> {
    // The client has an rxjs of its own.
    return from(this.#events) as unknown as ReturnType<AbstractAgent["run"]>;
  }
}

const common = ["id", "role", "content", "metadata", "subagentRunId"];
const members: Record<Message["role"], readonly string[]> = {
  developer: [...common, "name", "encryptedValue"],
  system: [...common, "name", "encryptedValue"],
  user: [...common, "name", "encryptedValue"],
  assistant: [...common, "name", "encryptedValue", "toolCalls"],
  tool: [...common, "encryptedValue", "toolCallId", "error"],
  activity: [...common, "activityType"],
  reasoning: [...common, "encryptedValue"],
};

// The official client strips members that a message of its role does not have; a server keeps them.
function knownOnly(message: Message): unknown {
  const known = members[message.role];
  const rest = Object.entries(message).filter(([key]) => known.includes(key));
  return Object.fromEntries(rest.flatMap(([key, value]) => withoutMark(key, value)));
}

// The session marks what was cut short; a client knows it from the end of the run.
function withoutMark(key: string, value: unknown): [string, unknown][] {
  if (key !== "metadata") return [[key, value]];
  const { incomplete: _mark, ...metadata } = value as Record<string, unknown>;
  return Object.keys(metadata).length === 0 ? [] : [[key, metadata]];
}

function isEnd(value: unknown): value is BaseEvent {
  const type = (value as { type?: unknown } | null | undefined)?.type;
  return type === "RUN_FINISHED" || type === "RUN_ERROR";
}

// What the documentation says of clients before 1.0: no subagents, no steps of theirs, no empty delta, and
// no outcome of a run that succeeds.
function forOlderClients(event: BaseEvent): BaseEvent[] {
  const isSubagents = event.type.startsWith("SUBAGENT_");
  const isTheirStep = event.type.startsWith("STEP_") && event.subagentRunId !== undefined;
  if (isSubagents || isTheirStep || event.delta === "") return [];
  const { outcome, ...rest } = event;
  const isSuccess = (outcome as { type?: unknown } | undefined)?.type === "success";
  return [event.type === "RUN_FINISHED" && isSuccess ? rest : event];
}

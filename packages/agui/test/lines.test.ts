import { EventType } from "@holodeck/agui-core";
import type { BaseEvent, RunAgentInput, SessionStore } from "@holodeck/agui-core";
import { memorySessions } from "@holodeck/agui-sessions";
import { readSse } from "@holodeck/agui-testing";
import fc from "fast-check";
import { expect, test } from "vitest";
import { createAgentHandler } from "../src/index.ts";
import { memoryLogger } from "./_helpers.ts";

// What an agent says in one turn is kept, folded and encoded at once; nobody may see that.

type Said = string | BaseEvent;

/** Here the agent waits for the next turn. */
const pause = "⏸";

const text = fc.oneof(
  fc.constantFrom("a", "bc", '"', "\n", "\\", "\ud83c", "\udf26", "\u2028", "漢"),
  fc.string({ unit: "binary", minLength: 1, maxLength: 8 }),
);
const content = (messageId: string): fc.Arbitrary<Said> =>
  text.map((delta) => ({ type: EventType.TEXT_MESSAGE_CONTENT, messageId, delta }));
const said: fc.Arbitrary<Said> = fc.oneof(
  { weight: 6, arbitrary: text },
  { weight: 4, arbitrary: content("m1") },
  { weight: 2, arbitrary: content("m2") },
  content("m1").map((event) => ({ ...(event as BaseEvent), timestamp: 7 })),
  content("m1").map((event) => ({ ...(event as BaseEvent), metadata: { a: 1 } })),
  text.map((delta) => ({ type: EventType.REASONING_MESSAGE_CONTENT, messageId: "m3", delta })),
  text.map((delta) => ({ type: EventType.TEXT_MESSAGE_CHUNK, messageId: "m4", delta })),
  text.map((delta) => ({ type: EventType.TOOL_CALL_ARGS, toolCallId: "c1", delta })),
  fc.constant<Said>({ type: EventType.TOOL_CALL_START, toolCallId: "c1", toolCallName: "x" }),
  fc.constant<Said>({ type: EventType.TOOL_CALL_END, toolCallId: "c1" }),
  fc.constant<Said>({ type: EventType.CUSTOM, name: "n", value: 1 }),
  fc.constant<Said>(""),
  { weight: 3, arbitrary: fc.constant<Said>(pause) },
);

async function* agent(input: RunAgentInput): AsyncGenerator<Said> {
  const { script, isSlow } = input.forwardedProps as { script: readonly Said[]; isSlow: boolean };
  for (const one of script) {
    if (one === pause) {
      await turn();
      continue;
    }
    // Objects are changed after they were said, as an agent may.
    const own = typeof one === "string" ? one : { ...one };
    yield own;
    if (typeof own === "object" && "delta" in own) own.delta = "changed";
    if (isSlow) await turn();
  }
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** A store whose log answers late, as one over the network does. */
function lateSessions(): SessionStore {
  const store = memorySessions();
  return proxied(store, {
    runs: proxied(store.runs, {
      async append(...args: Parameters<SessionStore["runs"]["append"]>) {
        await turn();
        await turn();
        await store.runs.append(...args);
      },
    }),
  });
}

function proxied<T extends object>(target: T, changes: object): T {
  return new Proxy(target, {
    get(_, name) {
      if (name in changes) return Reflect.get(changes, name) as unknown;
      const member = Reflect.get(target, name) as unknown;
      return typeof member === "function" ? (member.bind(target) as unknown) : member;
    },
  });
}

test.each([
  ["at once", memorySessions],
  ["late", lateSessions],
])(
  "a client of a store that answers %s receives the same, however much is sent in a turn",
  async (_, sessions) => {
    const handler = createAgentHandler(agent, { sessions: sessions(), logger: memoryLogger() });
    let runs = 0;
    const ask = async (script: readonly Said[], isSlow: boolean): Promise<Frame[]> => {
      const runId = `r${++runs}`;
      const response = await handler.fetch(
        new Request("http://localhost/agui", {
          method: "POST",
          headers: { "content-type": "application/json", accept: "text/event-stream" },
          body: JSON.stringify({
            threadId: `t${runs}`,
            runId,
            protocolVersion: "1.0",
            messages: [],
            tools: [],
            context: [],
            state: {},
            forwardedProps: { script, isSlow },
          }),
        }),
      );
      return framesOf(response);
    };
    const resume = async (after: number): Promise<Frame[]> => {
      const response = await handler.fetch(
        new Request(`http://localhost/agui/runs/r${runs}/events?threadId=t${runs}`, {
          headers: { accept: "text/event-stream", "last-event-id": String(after) },
        }),
      );
      return framesOf(response);
    };
    await fc.assert(
      fc.asyncProperty(fc.array(said, { maxLength: 40 }), fc.nat(60), async (script, place) => {
        const slowly = await ask(script, true);
        const atOnce = await ask(script, false);
        expect(withoutIds(atOnce)).toEqual(withoutIds(slowly));
        const after = place % atOnce.length;
        const rest = await resume(after);
        expect(joined(rest)).toEqual(joined(atOnce.slice(after)));
      }),
      { numRuns: 150 },
    );
    await handler.close();
  },
);

interface Frame {
  readonly id: string | undefined;
  readonly event: BaseEvent;
}

async function framesOf(response: Response): Promise<Frame[]> {
  expect(response.status).toBe(200);
  const frames: Frame[] = [];
  for await (const { id, data } of readSse(response)) {
    frames.push({ id, event: JSON.parse(data) as BaseEvent });
  }
  return frames;
}

// Two runs differ in their names, and in those the server made up.
function withoutIds(frames: readonly Frame[]): unknown {
  const names = new Map<unknown, string>();
  const nameOf = (id: unknown): unknown => {
    if (typeof id !== "string" || /^[mc]\d$/.test(id)) return id;
    if (!names.has(id)) names.set(id, `made up ${names.size}`);
    return names.get(id);
  };
  return frames.map(({ id, event }) => {
    const { threadId, runId, messageId, toolCallId, parentMessageId, ...rest } = event;
    const ids = { messageId, toolCallId, parentMessageId };
    return { id, ...rest, ...mapValues(ids, nameOf), runs: [typeof threadId, typeof runId] };
  });
}

function mapValues(values: object, map: (value: unknown) => unknown): object {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, map(value)]));
}

// A log may put together what is said of one part.
function joined(frames: readonly Frame[]): unknown {
  const events: BaseEvent[] = [];
  for (const { event } of frames) {
    const last = events.at(-1);
    if (last && isMergeable(last) && isMergeable(event) && keyOf(last) === keyOf(event)) {
      last.delta = `${last.delta as string}${event.delta as string}`;
    } else events.push({ ...event });
  }
  return { events, last: frames.at(-1)?.id };
}

function isMergeable(event: BaseEvent): boolean {
  return typeof event.delta === "string" && Object.keys(event).length === 3;
}

function keyOf({ type, messageId, toolCallId }: BaseEvent): string {
  return JSON.stringify([type, messageId, toolCallId]);
}

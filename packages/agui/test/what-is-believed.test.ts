import type { Message, Pending, RunAgentInput, Session, ServerTool } from "@holodeck/agui-core";
import { describe, expect, test } from "vitest";
import { createAgentHandler, memorySessions } from "../src/index.ts";
import { eventsOf, memoryLogger, post } from "./_helpers.ts";
import { toLine, toMessages } from "./_message-notation.ts";

/**
 * What a thread holds, what a client sends, and what becomes of it, in the notation of `toMessages`. `pay` is a tool of
 * the server, `look` one of the client.
 */
interface Scene {
  /** The thread before; without it there is none. */
  thread?: string;
  /** The thread has had no run, and no owner of its history: a host has written its messages. */
  isWritten?: true;
  /** How many messages the store keeps. */
  max?: number;
  owner?: "client" | "server";
  trust?: true;
  /** Ids of calls in the thread that only a client has reported. */
  claimed?: string[];
  /** What the thread waits for: calls by their ids, or whole entries. */
  waits?: (string | Pending)[];
  sends: string;
  /** Ids of interrupts that are answered with a yes. */
  allows?: string[];
  /** What the agent is given. */
  sees: string;
  /** What the thread holds while the agent runs, where the agent is given something else. */
  holds?: string;
  /** Described in the log. */
  drops?: string[];
  /** Ids that the thread still waits for while the agent runs. */
  stillWaits?: string[];
  /** Calls in the thread that only a client has reported, from now on. */
  claims?: string[];
}

const key = { principal: "", threadId: "t" };

/** A person was asked about a call; `call` is what the server would make. */
const asked = (id: string, toolCallId?: string, call?: object): Pending => ({
  id,
  kind: "interrupt",
  runId: "r0",
  value: {
    id,
    reason: "tool_call",
    ...(toolCallId ? { toolCallId } : {}),
    ...(call ? { call } : {}),
  },
});
const payCall = (n: number, id = "c1"): object => ({ id, name: "pay", args: { n } });
const dropsCall = (id: string, name = "pay"): string => `call "${id}" of "${name}"`;
const dropsResult = (id: string, call: string): string => `result "${id}" of the call "${call}"`;

async function play(scene: Scene): Promise<object> {
  const { thread, max = 1_000, owner = "client", trust = false, waits = [] } = scene;
  const sessions = memorySessions({ maxMessagesPerThread: max });
  if (thread !== undefined) {
    await sessions.create(key, { agentId: "default" });
    await sessions.update(key, {
      messages: toMessages(thread),
      ...(scene.isWritten ? {} : { lastRunId: "r0", historyOwner: owner }),
      claimed: scene.claimed ?? [],
      pending: waits.map((one) =>
        typeof one === "string" ? { id: one, kind: "tool", runId: "r0", value: {} } : one,
      ),
    });
  }
  const logger = memoryLogger();
  const pay: ServerTool = {
    name: "pay",
    description: "Pays.",
    parameters: { type: "object" },
    needsApproval: true,
    invoke: (args) => `paid ${(args as { n?: number }).n}`,
  };
  let given: RunAgentInput | undefined;
  let during: Session | undefined;
  const handler = createAgentHandler(
    async (input) => {
      given = { ...input, messages: input.messages.slice() };
      during = await sessions.get(key);
    },
    { tools: [pay], history: owner, trustClientHistory: trust, sessions, logger },
  );
  const resume = scene.allows?.map((interruptId) => ({
    interruptId,
    status: "resolved",
    payload: { approved: true },
  }));
  const body = { threadId: "t", runId: "r1", messages: toMessages(scene.sends), resume };
  const events = await eventsOf(await handler.fetch(post({ protocolVersion: "1.0", ...body })));
  expect(events.at(-1)).toMatchObject({ type: "RUN_FINISHED" });
  const dropped = logger.records.flatMap((one) => (one.dropped as string[] | undefined) ?? []);
  return {
    sees: toLine(given!.messages),
    holds: toLine(during!.messages),
    drops: dropped,
    stillWaits: during!.pending.map(({ id }) => id),
    claims: during!.claimed ?? [],
  };
}

const scenes: Record<string, Record<string, Scene>> = {
  "on a thread that is unknown": {
    "the user's words are taken": { sends: "u1", sees: "u1" },
    "calls of the client's tools are taken with their results, as claims": {
      sends: "u1 a1[c1=look] r1>c1:42 u2",
      sees: "u1 a1[c1=look] r1>c1:42 u2",
      claims: ["c1"],
    },
    "a call of a server tool is dropped with its result, and its message, which has no text": {
      sends: "u1 a1[c1=pay] r1>c1:42 u2",
      sees: "u1 u2",
      drops: [dropsCall("c1"), dropsResult("r1", "c1")],
    },
    "the text of a message stays when its call is dropped": {
      sends: "u1 a1+[c1=pay] r1>c1:42 u2",
      sees: "u1 a1 u2",
      drops: [dropsCall("c1"), dropsResult("r1", "c1")],
    },
    "a message with an empty text goes with its call": {
      sends: "u1 a1:+[c1=pay] u2",
      sees: "u1 u2",
      drops: [dropsCall("c1")],
    },
    "of two calls only that of the server tool is dropped": {
      sends: "u1 a1[c1=look,c2=pay] r1>c1:1 r2>c2:2",
      sees: "u1 a1[c1=look] r1>c1:1",
      drops: [dropsCall("c2"), dropsResult("r2", "c2")],
      claims: ["c1"],
    },
    "instructions are dropped": {
      sends: "s1 d1 u1",
      sees: "u1",
      drops: ['system message "s1"', 'developer message "d1"'],
    },
    "a result without a call is dropped": {
      sends: "u1 r1>c1:42",
      sees: "u1",
      drops: [dropsResult("r1", "c1")],
    },
    "a result before its call is dropped": {
      sends: "u1 r1>c1:42 a1[c1=look]",
      sees: "u1 a1[c1=look]",
      drops: [dropsResult("r1", "c1")],
      claims: ["c1"],
    },
    "a second result is dropped": {
      sends: "u1 a1[c1=look] r1>c1:42 r2>c1:43",
      sees: "u1 a1[c1=look] r1>c1:42",
      drops: [dropsResult("r2", "c1")],
      claims: ["c1"],
    },
    "thoughts are taken, and activities are not": { sends: "u1 t1 x1", sees: "u1 t1" },
    "a host that trusts its clients takes everything": {
      trust: true,
      sends: "s1 u1 a1[c1=pay] r1>c1:42 r2>c2:42",
      sees: "s1 u1 a1[c1=pay] r1>c1:42 r2>c2:42",
    },
  },

  "on a known thread, of which the client owns the history": {
    "a thread is known by the messages that were written there": {
      isWritten: true,
      thread: "u1",
      sends: "u1 a2[c9=look] r9>c9:42",
      sees: "u1 a2[c9=look]",
      drops: [dropsResult("r9", "c9")],
      claims: ["c9"],
    },
    "a result is not taken for a call that the client has added": {
      thread: "u1 a1",
      sends: "u1 a1 u2 a2[c9=look] r9>c9:42",
      sees: "u1 a1 u2 a2[c9=look]",
      drops: [dropsResult("r9", "c9")],
      claims: ["c9"],
    },
    "a thread without messages is known by its run": {
      thread: "",
      sends: "u2 a2[c9=look] r9>c9:42",
      sees: "u2 a2[c9=look]",
      drops: [dropsResult("r9", "c9")],
      claims: ["c9"],
    },
    "a call that waits is answered": {
      thread: "u1 a1[c1=look]",
      waits: ["c1"],
      sends: "u1 a1[c1=look] r1>c1:42",
      sees: "u1 a1[c1=look] r1>c1:42",
    },
    "an answer to one call leaves the others to wait": {
      thread: "u1 a1[c1=look,c2=look]",
      waits: ["c1", "c2"],
      sends: "u1 a1[c1=look,c2=look] r1>c1:42",
      sees: "u1 a1[c1=look,c2=look] r1>c1:42",
      stillWaits: ["c2"],
    },
    "a call that does not wait is not answered": {
      thread: "u1 a1[c1=look,c2=look]",
      waits: ["c1"],
      sends: "u1 a1[c1=look,c2=look] r2>c2:42",
      sees: "u1 a1[c1=look,c2=look]",
      drops: [dropsResult("r2", "c2")],
      stillWaits: ["c1"],
    },
    "a result is the one that the thread has, whatever the client makes of it": {
      thread: "u1 a1[c1=look] r1>c1:42 a2",
      sends: "u1 a1[c1=look] r1>c1:99 a2 u2",
      sees: "u1 a1[c1=look] r1>c1:42 a2 u2",
    },
    "a result under another id is the one that the thread has": {
      thread: "u1 a1[c1=look] r1>c1:42 a2",
      sends: "u1 a1[c1=look] r7>c1:99 a2 u2",
      sees: "u1 a1[c1=look] r1>c1:42 a2 u2",
    },
    "of two results of one call each keeps its own": {
      thread: "u1 a1[c1=look] r1>c1:1 r2>c1:2",
      sends: "u1 a1[c1=look] r1>c1:99 u2",
      sees: "u1 a1[c1=look] r1>c1:1 u2",
    },
    "the id of a result of one call does not bring it to another": {
      thread: "u1 a1[c1=look,c2=look] r1>c1:1",
      waits: ["c2"],
      sends: "u1 a1[c1=look,c2=look] r1>c2:2",
      sees: "u1 a1[c1=look,c2=look] r1>c2:2",
    },
    "the id of a message of another role is no result": {
      thread: "u1 a1[c1=look]",
      waits: ["c1"],
      sends: "u1 a1[c1=look] u1>c1:42",
      sees: "u1 a1[c1=look] u1>c1:42",
    },
    "a call of a server tool comes back with its result": {
      thread: "u1 a1[c1=pay] r1>c1:42 a2",
      sends: "u1 a1[c1=pay] r1>c1:42 a2 u2",
      sees: "u1 a1[c1=pay] r1>c1:42 a2 u2",
    },
    "a call of a server tool keeps its name and arguments": {
      thread: "u1 a1[c1=pay/1] r1>c1:42 a2",
      sends: "u1 a1[c1=look/9] r1>c1:99 a2 u2",
      sees: "u1 a1[c1=pay/1] r1>c1:42 a2 u2",
    },
    "a call of a server tool keeps its arguments beside one that the client adds": {
      thread: "u1 a1[c1=pay/1] r1>c1:42",
      sends: "u1 a1[c1=pay/9,c2=look] r1>c1:42 u2",
      sees: "u1 a1[c1=pay/1,c2=look] r1>c1:42 u2",
      claims: ["c2"],
    },
    "a call of a server tool is not moved under another message of the user": {
      thread: "u1 a1[c1=pay] r1>c1:42 u2 a2",
      sends: "u1 u2 a1[c1=pay] r1>c1:42",
      sees: "u1 u2",
      drops: [dropsCall("c1"), dropsResult("r1", "c1")],
    },
    "the same words of the user under another id are the same turn": {
      thread: "u1 a1[c1=pay] r1>c1:42",
      sends: "u8:u1 a1[c1=pay] r1>c1:42 u9",
      sees: "u8:u1 a1[c1=pay] r1>c1:42 u9",
    },
    "a call of a server tool comes back without the words that led to it": {
      thread: "u1 a1[c1=pay] r1>c1:42",
      sends: "a1[c1=pay] r1>c1:42 u9",
      sees: "a1[c1=pay] r1>c1:42 u9",
    },
    "the user's message that led to a call may have been edited": {
      thread: "u1 a1[c1=pay] r1>c1:42",
      sends: "u1:other a1[c1=pay] r1>c1:42 u9",
      sees: "u1:other a1[c1=pay] r1>c1:42 u9",
    },
    "a call that no words of the user led to comes back under any": {
      thread: "a1[c1=pay] r1>c1:42",
      sends: "u7 a1[c1=pay] r1>c1:42 u9",
      sees: "u7 a1[c1=pay] r1>c1:42 u9",
    },
    "the result of a server tool is not taken without its call": {
      thread: "u1 a1[c1=pay] r1>c1:42",
      sends: "u1 r1>c1:42",
      sees: "u1",
      drops: [dropsResult("r1", "c1")],
    },
    "a call of a server tool that has no result gets none": {
      thread: "u1 a1[c1=pay]",
      waits: ["c1"],
      sends: "u1 a1[c1=pay] r1>c1:42",
      sees: "u1 a1[c1=pay]",
      drops: [dropsResult("r1", "c1")],
      stillWaits: ["c1"],
    },
    "what a client had claimed for what is a server tool now is dropped": {
      thread: "u1 a1[c1=pay] r1>c1:42 a2",
      claimed: ["c1"],
      sends: "u1 a1[c1=pay] r1>c1:42 a2 u2",
      sees: "u1 a2 u2",
      drops: [dropsCall("c1"), dropsResult("r1", "c1")],
    },
    "what a client had claimed does not take the server's own calls with it": {
      thread: "u1 a1[c1=pay] r1>c1:1 a2[c2=pay] r2>c2:2",
      claimed: ["c2"],
      sends: "u1 a1[c1=pay] r1>c1:1 a2[c2=pay] r2>c2:2 u2",
      sees: "u1 a1[c1=pay] r1>c1:1 u2",
      drops: [dropsCall("c2"), dropsResult("r2", "c2")],
    },
    "what a client had claimed stays claimed as long as it is there": {
      thread: "u1 a1[c1=look,c2=look] r1>c1:42",
      claimed: ["c1"],
      sends: "u1 a1[c1=look,c2=look] r1>c1:42 u2",
      sees: "u1 a1[c1=look,c2=look] r1>c1:42 u2",
      claims: ["c1"],
    },
    "what a client had claimed is forgotten when it is gone": {
      thread: "u1 a1[c1=look] r1>c1:42",
      claimed: ["c1"],
      sends: "u1",
      sees: "u1",
    },
    "a call that waits is not answered under the name of a server tool": {
      thread: "u1 a1",
      waits: ["c1"],
      sends: "u1 a1 a2[c1=pay] r1>c1:42",
      sees: "u1 a1",
      drops: [dropsCall("c1"), dropsResult("r1", "c1")],
      stillWaits: ["c1"],
    },
    "an activity stays on a thread that has nothing else": {
      thread: "x0",
      sends: "u1",
      sees: "u1",
      holds: "x0 u1",
    },
    "activities stay where they were, and are not for the agent": {
      thread: "x0 u1 x1 a1 x2 u2 x3",
      sends: "u1 a1 u9",
      sees: "u1 a1 u9",
      holds: "x0 u1 x1 a1 x2 x3 u9",
    },
    "an activity that comes back stands once": {
      thread: "u1 x1 x2 a1",
      sends: "u1 x1 a1 u2",
      sees: "u1 a1 u2",
      holds: "u1 x1 x2 a1 u2",
    },
    "a host that trusts its clients takes results and claims as they are": {
      trust: true,
      thread: "u1 a1[c1=pay] r1>c1:42",
      claimed: ["c1"],
      sends: "u1 a1[c1=pay] r1>c1:99 s1",
      sees: "u1 a1[c1=pay] r1>c1:99 s1",
    },
  },

  "what a person was asked about": {
    "is not answered by a result of the client's": {
      thread: "u1 a1[c1=look]",
      waits: [asked("i1", "c1")],
      sends: "u1 a1[c1=look] r1>c1:42",
      sees: "u1 a1[c1=look]",
      drops: [dropsResult("r1", "c1")],
      stillWaits: ["i1"],
    },
    "is no call that waits for the client, though it has its id": {
      thread: "u1 a1[i1=look]",
      waits: [asked("i1")],
      sends: "u1 a1[i1=look] r1>i1:42",
      sees: "u1 a1[i1=look]",
      drops: [dropsResult("r1", "i1")],
      stillWaits: ["i1"],
    },
    "is not waited for once it is answered; other questions are": {
      thread: "u1 a1[c1=look]",
      waits: [asked("i1"), asked("i2"), "c1"],
      sends: "u1 a1[c1=look]",
      allows: ["i1"],
      sees: "u1 a1[c1=look]",
      stillWaits: ["i2", "c1"],
    },
    "is the server's call though the store has pruned it": {
      thread: "u1",
      waits: [asked("i1", "c1", payCall(1))],
      sends: "u1 a1[c1=pay/1]",
      sees: "u1 a1[c1=pay/1]",
      stillWaits: ["i1"],
    },
    "is the server's call when the client sends it without arguments, and it has none": {
      thread: "u1",
      waits: [asked("i1", "c1", { id: "c1", name: "pay", args: {} })],
      sends: "u1 a1[c1=pay!]",
      sees: "u1 a1[c1=pay!]",
      stillWaits: ["i1"],
    },
    "is shown without arguments when the client sends what is no JSON": {
      thread: "u1",
      waits: [asked("i1", "c1", payCall(1))],
      sends: "u1 a1[c1=pay?]",
      sees: "u1 a1[c1=pay]",
      stillWaits: ["i1"],
    },
    "is not answered by a result of the client's where the store has pruned the call": {
      thread: "u1 a1[c1=look] u2 a2",
      max: 2,
      waits: [asked("i1", "c1")],
      sends: "u1 a1[c1=look] r1>c1:42 u2 a2",
      sees: "u1 a1[c1=look] u2 a2",
      holds: "u2 a2",
      drops: [dropsResult("r1", "c1")],
      stillWaits: ["i1"],
      claims: ["c1"],
    },
    "is shown without arguments when the client sends others": {
      thread: "u1",
      waits: [asked("i1", "c1", payCall(1))],
      sends: "u1 a1[c1=pay/2]",
      sees: "u1 a1[c1=pay]",
      stillWaits: ["i1"],
    },
    "is shown under its name when the client sends another": {
      thread: "u1",
      waits: [asked("i1", "c1", payCall(1))],
      sends: "u1 a1[c1=look/1]",
      sees: "u1 a1[c1=pay]",
      stillWaits: ["i1"],
    },
    "leaves other calls of the tool dropped": {
      thread: "u1",
      waits: [asked("i1", "c1", payCall(1))],
      sends: "u1 a1[c2=pay/1]",
      sees: "u1",
      drops: [dropsCall("c2")],
      stillWaits: ["i1"],
    },
  },

  "on a thread that has become too long for its store": {
    "what was pruned is believed in front of what is left": {
      thread: "u1 a1[c1=look] r1>c1:42 u2 a2",
      max: 2,
      sends: "u1 a1[c1=look] r1>c1:42 u2 a2 u3",
      sees: "u1 a1[c1=look] r1>c1:42 u2 a2 u3",
      holds: "a2 u3",
      claims: ["c1"],
    },
    "calls of server tools are not, wherever they stand": {
      thread: "u1 a1[c1=pay] r1>c1:42 u2 a2",
      max: 2,
      sends: "u1 a1[c1=pay] r1>c1:42 u2 a2 u3",
      sees: "u1 u2 a2 u3",
      holds: "a2 u3",
      drops: [dropsCall("c1"), dropsResult("r1", "c1")],
    },
    "a call that was pruned has its result, though it comes again among what is left": {
      thread: "u1 a1 u2 a2",
      max: 2,
      sends: "a9[c9=look] u2 a8[c9=look] r9>c9:1",
      sees: "a9[c9=look] u2 a8[c9=look] r9>c9:1",
      holds: "a8[c9=look] r9>c9:1",
      claims: ["c9", "c9"],
    },
    "a result after what is left is dropped": {
      thread: "u1 a1 u2 a2",
      max: 2,
      sends: "u2 a2 a9[c9=look] r9>c9:1 u3",
      sees: "u2 a2 a9[c9=look] u3",
      holds: "a9[c9=look] u3",
      drops: [dropsResult("r9", "c9")],
      claims: ["c9"],
    },
    "a call that is added to the first message that is left has no result": {
      thread: "u1 a1 u2 a2",
      max: 1,
      sends: "a2[c9=look] r9>c9:1 u3",
      sees: "a2[c9=look] u3",
      holds: "u3",
      drops: [dropsResult("r9", "c9")],
      claims: ["c9"],
    },
    "without anything that is left, results are believed up to the last message that was pruned": {
      thread: "u1 a1[c1=look] u2 a2",
      max: 2,
      sends: "u1 a1[c1=look] r1>c1:42 a9[c9=look] r9>c9:1 u3",
      sees: "u1 a1[c1=look] r1>c1:42 a9[c9=look] u3",
      holds: "a9[c9=look] u3",
      drops: [dropsResult("r9", "c9")],
      claims: ["c1", "c9"],
    },
    "without that as well, the store cannot know, and they are believed": {
      thread: "u1 a1 u2 a2",
      max: 2,
      sends: "a9[c9=look] r9>c9:1 u3",
      sees: "a9[c9=look] r9>c9:1 u3",
      holds: "u3",
      claims: ["c9"],
    },
  },

  "on a known thread, of which the server owns the history": {
    "a thread that a host has written is the server's": {
      owner: "server",
      isWritten: true,
      thread: "u1 a1",
      sends: "a9 u2",
      sees: "u1 a1 u2",
    },
    "activities stay, and are not for the agent": {
      owner: "server",
      thread: "u1 x1 a1",
      sends: "u2",
      sees: "u1 a1 u2",
      holds: "u1 x1 a1 u2",
    },
    "a host that trusts its clients keeps their claims": {
      owner: "server",
      trust: true,
      thread: "u1 a1[c1=pay] r1>c1:42",
      claimed: ["c1"],
      sends: "u2",
      sees: "u1 a1[c1=pay] r1>c1:42 u2",
    },
    "only what is new is taken of a whole history": {
      owner: "server",
      thread: "u1 a1",
      sends: "u1 a1 u2",
      sees: "u1 a1 u2",
    },
    "a message of the user is added": {
      owner: "server",
      thread: "u1 a1",
      sends: "u2",
      sees: "u1 a1 u2",
    },
    "nothing is taken that the client says for the assistant": {
      owner: "server",
      thread: "u1 a1",
      sends: "a9 u2 t9 x9",
      sees: "u1 a1 u2",
    },
    "a host that trusts its clients takes that, but no activities": {
      owner: "server",
      trust: true,
      thread: "u1 a1",
      sends: "a9 u2 t9 x9",
      sees: "u1 a1 a9 u2 t9",
    },
    "the user's last message again is asked again": {
      owner: "server",
      thread: "u1 a1 u2 a2",
      sends: "u1 a1 u2",
      sees: "u1 a1 u2",
    },
    "an earlier message of the user's, edited, takes the place of what followed": {
      owner: "server",
      thread: "u1 a1 u2 a2",
      sends: "u1:other",
      sees: "u1:other",
    },
    "a message of the assistant's that comes last changes nothing": {
      owner: "server",
      thread: "u1 a1 u2 a2",
      sends: "u1 a1",
      sees: "u1 a1 u2 a2",
    },
    "a message of the user's under the id of an answer changes nothing": {
      owner: "server",
      thread: "u1 a1 u2 a2",
      sends: "u1 a1@u:other",
      sees: "u1 a1 u2 a2",
    },
    "a result under the id of a message of the user's takes nothing back": {
      owner: "server",
      thread: "u1 a1[c1=look]",
      waits: ["c1"],
      sends: "u1>c1:42",
      sees: "u1 a1[c1=look]",
      stillWaits: ["c1"],
    },
    "an answer to a question takes nothing back": {
      owner: "server",
      thread: "u1 a1",
      waits: [asked("i1")],
      allows: ["i1"],
      sends: "u1",
      sees: "u1 a1",
    },
    "a call that waits is answered": {
      owner: "server",
      thread: "u1 a1[c1=look]",
      waits: ["c1"],
      sends: "r1>c1:42",
      sees: "u1 a1[c1=look] r1>c1:42",
    },
    "a call is not answered twice": {
      owner: "server",
      trust: true,
      thread: "u1 a1[c1=look] r1>c1:42",
      sends: "r2>c1:99 u2",
      sees: "u1 a1[c1=look] r1>c1:42 u2",
    },
    "a call that was taken back is not answered": {
      owner: "server",
      thread: "u1 a1[c1=look]",
      waits: ["c1"],
      sends: "r1>c1:42 u1",
      sees: "u1",
      stillWaits: ["c1"],
    },
    "a call before what was taken back is answered": {
      owner: "server",
      thread: "u1 a1[c1=look] u2 a2",
      waits: ["c1"],
      sends: "r1>c1:42 u2",
      sees: "u1 a1[c1=look] r1>c1:42 u2",
    },
    "what a client had claimed for what is a server tool now is gone": {
      owner: "server",
      thread: "u1 a1[c1=pay] r1>c1:42 a2",
      claimed: ["c1"],
      sends: "u2",
      sees: "u1 a2 u2",
    },
    "what a client had claimed goes without what stands beside it": {
      owner: "server",
      thread: "u1 a1[c1=pay,c3=look] r3>c3:7",
      claimed: ["c1"],
      sends: "u2",
      sees: "u1 a1[c3=look] r3>c3:7 u2",
    },
    "what was pruned is not added again": {
      owner: "server",
      thread: "u1 a1 u2 a2 u3 a3",
      max: 4,
      sends: "u1 a1 u2 a2 u3 a3 u4",
      sees: "a2 u3 a3 u4",
    },
    "what was pruned is not added again by a client that has nothing else": {
      owner: "server",
      thread: "u1 a1 u2 a2 u3 a3",
      max: 4,
      sends: "u1 a1 u9",
      sees: "a2 u3 a3 u9",
    },
    "what was pruned is not added again by a client that has nothing new": {
      owner: "server",
      thread: "u1 a1 u2 a2 u3 a3",
      max: 4,
      sends: "u1 a1",
      sees: "u2 a2 u3 a3",
    },
    "what was pruned is not added again, though it ends with a message of the user's": {
      owner: "server",
      thread: "a1 u1 u2 a2 u3 a3",
      max: 4,
      sends: "a1 u1 u2 u9",
      sees: "a2 u3 a3 u9",
    },
    "a result that answers nothing is not added, wherever it stands": {
      owner: "server",
      trust: true,
      thread: "u1 a1 u2 a2 u3 a3",
      max: 4,
      waits: [asked("i1")],
      sends: "r8>c8:42 r9>i1:42 u2 a2 u3 a3 u4",
      sees: "a2 u3 a3 u4",
      stillWaits: ["i1"],
    },
    "an answer to a question adds no message again": {
      owner: "server",
      thread: "u1 a1 u2 a2 u3 a3",
      max: 4,
      waits: [asked("i1")],
      allows: ["i1"],
      sends: "u1 a1 u2 a2 u3",
      sees: "u2 a2 u3 a3",
    },
    "several new messages are added to what is left": {
      owner: "server",
      thread: "u1 a1 u2 a2 u3 a3",
      max: 4,
      sends: "u8 u9",
      sees: "u3 a3 u8 u9",
    },
    "a message of the user's that is left is asked again": {
      owner: "server",
      thread: "u1 a1 u2 a2 u3 a3",
      max: 4,
      sends: "u1 a1 u2 a2 u3",
      sees: "u2 a2 u3",
    },
    "a call that was pruned and waits is answered, wherever the result stands": {
      owner: "server",
      thread: "u1 a1[c1=look] u2 a2 u3 a3",
      max: 4,
      waits: ["c1"],
      sends: "u1 a1[c1=look] r1>c1:42 u2 a2 u3 a3",
      sees: "a2 u3 a3 r1>c1:42",
    },
    "a call that was pruned and waits is answered by its result alone": {
      owner: "server",
      thread: "u1 a1[c1=look] u2 a2 u3 a3",
      max: 4,
      waits: ["c1"],
      sends: "u1 a1[c1=look] r1>c1:42",
      sees: "a2 u3 a3 r1>c1:42",
    },
    "a call that was pruned and allowed is restored, without the text of its message": {
      owner: "server",
      thread: "u1 a1+[c1=pay/1] u2 a2 u3 a3",
      max: 4,
      waits: [asked("i1", "c1", payCall(1))],
      allows: ["i1"],
      sends: "u1 a1+[c1=pay/1,c3=look] a7 a8[c2=pay/1]",
      sees: "a2 u3 a3 a1[c1=pay/1] >c1:paid 1",
      holds: "a2 u3 a3 a1[c1=pay/1]",
      drops: [dropsCall("c2")],
    },
    "a call that was pruned and is not answered is not restored": {
      owner: "server",
      thread: "u1 a1+[c1=pay/1] u2 a2 u3 a3",
      max: 4,
      waits: [asked("i1", "c1", payCall(1))],
      sends: "u1 a1+[c1=pay/1] u9",
      sees: "a2 u3 a3 u9",
      stillWaits: ["i1"],
    },
    "a call that was pruned is not restored into a message that is there": {
      owner: "server",
      thread: "u1 a1[c1=pay/1] u2 a2 u3 a3",
      max: 4,
      waits: [asked("i1", "c1", payCall(1))],
      allows: ["i1"],
      sends: "u2 a2[c1=pay/1]",
      sees: "u2 a2 u3 a3 [c1=pay/1] >c1:paid 1",
      holds: "u2 a2 u3 a3",
    },
    "a call that is still there and allowed is not restored": {
      owner: "server",
      thread: "u1 a1[c1=pay/1]",
      waits: [asked("i1", "c1", payCall(1))],
      allows: ["i1"],
      sends: "u1 a7[c1=pay/1]",
      sees: "u1 a1[c1=pay/1] >c1:paid 1",
      holds: "u1 a1[c1=pay/1]",
    },
  },
};

describe.for(Object.keys(scenes))("%s", (where) => {
  test.for(Object.entries(scenes[where]!))("%s", async ([, scene]) => {
    expect(await play(scene)).toEqual({
      sees: scene.sees,
      holds: scene.holds ?? scene.sees,
      drops: scene.drops ?? [],
      stillWaits: scene.stillWaits ?? [],
      claims: scene.claims ?? [],
    });
  });
});

describe("the state that an agent is given", () => {
  const stored = { of: "the thread" };
  test.for<[string, unknown, unknown, unknown]>([
    ["is the client's", stored, { of: "the client" }, { of: "the client" }],
    ["is the thread's when the client sends an empty one", stored, {}, stored],
    ["is the thread's when the client sends an empty list", stored, [], stored],
    ["is the thread's when the client sends null", stored, null, stored],
    ["is the thread's when the client sends none", stored, undefined, stored],
    ["is the client's when it is no object", stored, "text", "text"],
    ["is the client's when it is zero", stored, 0, 0],
    ["is empty when there is none", undefined, undefined, {}],
    ["is the client's empty list when there is none", undefined, [], []],
    ["is what an unknown thread is sent", undefined, { of: "the client" }, { of: "the client" }],
  ])("%s", async ([, state, sent, expected]) => {
    const sessions = memorySessions();
    await sessions.create(key, { agentId: "default" });
    if (state !== undefined) await sessions.update(key, { state });
    let given: unknown;
    const handler = createAgentHandler(async (input) => void (given = input.state), {
      sessions,
      logger: memoryLogger(),
    });
    const messages: Message[] = toMessages("u1");
    const body = { threadId: "t", messages, ...(sent === undefined ? {} : { state: sent }) };
    await (await handler.fetch(post(body))).text();
    expect(given).toEqual(expected);
  });
});

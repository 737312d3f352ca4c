// Two callers whose names or ids look alike to a store that joins, encodes or compares them carelessly. One of them owns
// threads, live runs and a question to a client tool; the other tries every operation with the ids of both.
import { readSse } from "@holodeck/agui-testing";
import type { Json } from "@holodeck/agui-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { held } from "../../../../scripts/test-support/held.ts";
import { createAgentHandler } from "../../src/index.ts";
import type { AgentHandler, AgentHandlerOptions } from "../../src/index.ts";
import { attemptsOn, toRequest, toSegment } from "../_attempts.ts";
import type { Asked, Attempt, Ids } from "../_attempts.ts";
import { everyProtocol } from "../_every-protocol.ts";
import { deferred, memoryLogger, post } from "../_helpers.ts";
import type { Deferred } from "../_helpers.ts";
import { storeKinds } from "../_shared-stores.ts";
import type { SharedStore } from "../_shared-stores.ts";

type Caller = readonly [principal: string, threadId: string];

const long = "x".repeat(4_999);

/** No principal occurs twice, so that one store serves all pairs. */
const pairs: readonly (readonly [what: string, owner: Caller, other: Caller])[] = [
  ["one thread id", ["ann", "t-1"], ["bob", "t-1"]],
  ["a colon that moved", ["a", "b:c"], ["a:b", "c"]],
  ["a slash that moved", ["d", "e/f"], ["d/e", "f"]],
  ["a bar that moved", ["g", "h|i"], ["g|h", "i"]],
  ["a NUL that moved", ["j\0k", "l"], ["j", "k\0l"]],
  ["a list in JSON", ["m", "n"], ['["m","n"]', "n"]],
  ["a colon as %3A", ["o%3Ap", "q"], ["o:p", "q"]],
  ["a % as %25", ["r%25s", "t%25"], ["r%s", "t%"]],
  ["halves of surrogate pairs", ["u\ud800", "v"], ["u\udfff", "v"]],
  ["half a pair and U+FFFD", ["w\ud801", "x"], ["w\ufffd", "x"]],
  ["é in one and in two characters", ["caf\u00e9", "\u00e9"], ["cafe\u0301", "e\u0301"]],
  ["upper and lower case", ["Eve", "Y"], ["eve", "y"]],
  ["a Turkish i", ["\u0130da", "z"], ["i\u0307da", "z"]],
  ["a blank at the end", ["fay", "t-2"], ["fay ", "t-2"]],
  ["5,000 characters", [`${long}a`, "t-3"], [`${long}b`, "t-3"]],
  ["names of prototypes", ["__proto__", "__proto__"], ["constructor", "__proto__"]],
  ["a pattern for all names", ["gus", "t-4"], ["*", "t-4"]],
  ["a pattern of SQL", ["hal", "t-5"], ["h_l%", "t-5"]],
  ["a quote of SQL", ["joe", "t-6"], ["' OR '1'='1' --", "t-6"]],
  ["a hash tag of Redis", ["{kim}", "t-7"], ["kim}:{", "t-7"]],
  ["a number", ["1", "t-8"], ["01", "t-8"]],
  ["an empty name's neighbour", ["null", "t-9"], ["undefined", "t-9"]],
];

const sessionId = "01ARZ3NDEKTSV4RRFFQ69G5FAV";

/** Callers by the word that they send as `x-user`. */
const callers = new Map(
  pairs.flatMap(([, [owner], [other]], at): [string, string][] => [
    [`owner-${at}`, owner],
    [`other-${at}`, other],
  ]),
);

interface Server {
  readonly handler: AgentHandler;
  /** From now on runs of this principal wait, until it is resolved. */
  hold(principal: string): Deferred & { readonly held: Promise<void> };
}

function serveSecrets(sessions: SharedStore, isBroken = false): Server {
  const holds = new Map<string, Deferred & { begun: Deferred; waiting: number }>();
  const secrets = new Map([...callers].map(([word, principal]) => [principal, word]));
  const options: AgentHandlerOptions = {
    logger: memoryLogger(),
    protocols: everyProtocol(),
    sessions: sessions.owner,
    authenticate({ headers }) {
      const word = headers.get("x-user") ?? "";
      // The planted fault: both callers are one.
      return { id: callers.get(isBroken ? word.replace("other", "owner") : word)! };
    },
  };
  const handler = createAgentHandler(async function* ({ tools }, { principal, callTool }) {
    yield `a secret of ${secrets.get(principal!.id)}`;
    if (tools.length > 0) yield ` who received ${String(await callTool("pick", {}))}`;
    const hold = holds.get(principal!.id);
    if (!hold || tools.length > 0) return;
    if (++hold.waiting === 3) hold.begun.resolve();
    await hold.promise;
  }, options);
  return {
    handler,
    hold(principal) {
      const begun = deferred();
      const hold = { ...deferred(), begun, waiting: 0 };
      holds.set(principal, hold);
      return { ...hold, held: begun.promise };
    },
  };
}

interface Owned extends Asked {
  /** What the owner sees of its threads. */
  view(): Promise<string>;
  /** Lets the runs end, and returns what was wrong with them. */
  finish(): Promise<string[]>;
}

async function own({ handler, hold }: Server, at: number): Promise<Owned> {
  const [, [principal, threadId]] = pairs[at]!;
  const headers = { "x-user": `owner-${at}` };
  const run = { threadId, protocolVersion: "1.0", messages: [] };
  const first = await handler.fetch(post({ ...run, runId: `past-${at}` }, { headers }));
  expect(first.status).toBe(200);
  expect(await first.text()).toContain(`a secret of owner-${at}`);

  const { held: begun, resolve } = hold(principal);
  const live = [threadId, sessionId].map((thread, index) =>
    handler
      .fetch(post({ ...run, threadId: thread, runId: `live-${at}-${index}` }, { headers }))
      .then((response) => response.text()),
  );
  const created = { input: "hi", stream: true };
  const response = readSse(await handler.fetch(post(created, { headers, path: "/v1/responses" })));
  const { value: start } = await response.next();
  const responseId = String((JSON.parse(start!.data) as { response: Json }).response.id);
  await begun;

  const chat = { message: "pick", tools: [{ name: "pick" }] };
  const asked = readSse(await handler.fetch(post(chat, { headers, path: "/chat" })));
  const next = async (): Promise<Json> => {
    const { value, done } = await asked.next();
    return done ? {} : (JSON.parse(value.data) as Json);
  };
  let event = await next();
  while (event.event === "token") event = await next();
  const executionId = String(event.execution_id);

  const get = async (path: string): Promise<string> =>
    (await handler.fetch(new Request(`http://test.local${path}`, { headers }))).text();
  return {
    executionId,
    responseId,
    view: async () => {
      const place = `/agui/threads/${toSegment(threadId)}`;
      const paths = ["/agui/threads", `${place}/messages`, `${place}/state`, "/threads"];
      return (await Promise.all(paths.map(get))).join("\n");
    },
    async finish() {
      resolve();
      const result = { execution_id: executionId, execution_time_ms: 1, result: "its owner" };
      const answer = await handler.fetch(post(result, { headers, path: "/tool_result" }));
      let text = `${answer.status}`;
      for (let last = await next(); "event" in last; last = await next()) {
        text += JSON.stringify(last);
      }
      const faults = text.includes("who received its owner") ? [] : [`the client tool: ${text}`];
      for (const events of await Promise.all(live)) {
        const isWhole = events.includes('"RUN_FINISHED"') && !events.includes("cancelled");
        if (!isWhole) faults.push(`a live run ended: ${events.slice(-300)}`);
      }
      let rest = "";
      for await (const { data } of response) rest += data;
      if (!rest.includes('"response.completed"')) faults.push(`a response: ${rest.slice(-300)}`);
      return faults;
    },
  };
}

/** All attempts of one pair: how many there were, and what came through. */
async function attack(
  server: Server,
  at: number,
  isWanted: (attempt: Attempt) => boolean = () => true,
): Promise<{ tried: number; through: string[] }> {
  const [what, [, ownersThread], [, othersThread]] = pairs[at]!;
  const { view, finish, ...asked } = await own(server, at);
  const before = await view();
  const through: string[] = [];
  let tried = 0;
  const runId = `live-${at}-0`;
  for (const threadId of [ownersThread, othersThread]) {
    for (const [route, attempt] of inOrder({ threadId, sessionId, runId })) {
      if (!isWanted(attempt)) continue;
      tried++;
      const caller = { ...asked, user: `other-${at}` };
      const response = await server.handler.fetch(toRequest(route, attempt, caller));
      const text = `${JSON.stringify([...response.headers])} ${await response.text()}`;
      const isRead = text.includes(`owner-${at}`);
      const isFound = attempt.answer === "is not found" && response.status < 400;
      // Later the caller has a thread under the same id.
      const isOwn = threadId === othersThread && ownersThread !== othersThread;
      if (isRead || response.status >= 500 || (isFound && !isOwn)) {
        through.push(`${what}: ${route} ${response.status} ${text.slice(0, 200)}`);
      }
    }
    // With one id for both, the second round meets threads that the caller has made.
    if (ownersThread === othersThread) break;
  }
  if ((await view()) !== before) through.push(`${what}: the owner sees a change`);
  through.push(...(await finish()).map((fault) => `${what}: ${fault}`));
  return { tried, through };
}

/** Operations that create something for the caller come last. */
function inOrder(ids: Ids): [route: string, attempt: Attempt][] {
  const all = Object.entries(attemptsOn(ids)).flatMap(([route, list]) =>
    list.map((attempt): [string, Attempt] => [route, attempt]),
  );
  const isLast = ([, { answer }]: [string, Attempt]): number => (answer === "creates" ? 1 : 0);
  return all.sort((a, b) => isLast(a) - isLast(b));
}

test("no principal is in two pairs", () => {
  expect(new Set(callers.values()).size).toBe(callers.size);
});

// On a busy machine a thousand requests to a database take their time.
const timeout = 600_000;

describe.for(storeKinds)("another caller's ids on $name", { timeout }, (kind) => {
  let store: SharedStore | undefined;
  beforeAll(async () => {
    store = await kind.open("cross-principal attempts");
  });
  afterAll(() => store?.close());

  test("open nothing, however much alike names and ids look", async ({ skip }) => {
    if (!store) return skip();
    const server = serveSecrets(store);
    let tried = 0;
    const through: string[] = [];
    for (const at of pairs.keys()) {
      const outcome = await attack(server, at);
      tried += outcome.tried;
      through.push(...outcome.through);
    }
    held("cross-principal attempts, on each store", tried, through);
  });
});

test("a server that takes two callers for one is noticed", async () => {
  const store = (await storeKinds[0]!.open("planted"))!;
  const isRead = ({ path, answer }: Attempt): boolean =>
    answer === "is not found" && /messages|state$/.test(path);
  const { through } = await attack(serveSecrets(store, true), 0, isRead);
  expect(through).toHaveLength(2);
});

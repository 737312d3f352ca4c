import { createAgentHandler } from "@holodeck/agui";
import { EventType } from "@holodeck/agui-core";
import type { Encoder, Lease, LogEntry, RunStatus, ThreadKey } from "@holodeck/agui-core";
import { runInput } from "../../src/index.ts";
import {
  testBinding,
  testEncoder,
  testProtocol,
  testRunLog,
  testSessionStore,
} from "../../src/vitest/index.ts";
import { ndjson, ndjsonEncoder, post, readLines } from "../ndjson.ts";
import { brokenCallers } from "../database-caller.ts";
import { breakStore, readUncut, sharedStores } from "../shared-store.ts";
import type { SharedStores } from "../shared-store.ts";
import { listenSmallest } from "../smallest-binding.ts";
import type { ChangeExchange } from "../smallest-binding.ts";

const good = ndjsonEncoder();

function broken(changes: Partial<Encoder>): () => Encoder {
  return () => ({ ...good, ...changes });
}

testEncoder(
  "forgets a kind",
  broken({ encode: (entry) => (entry.event.type === EventType.RAW ? "" : good.encode(entry)) }),
);
testEncoder("drops less than it says", ndjsonEncoder, { dropped: ["CUSTOM"] });
testEncoder(
  "draws random ids",
  broken({ encode: (entry) => `${Math.random()}${good.encode(entry) as string}` }),
);
testEncoder(
  "reads the clock",
  broken({ encode: (entry) => `${new Date().getTime()}${good.encode(entry) as string}` }),
);
testEncoder(
  "writes into the log",
  broken({
    encode: (entry) => {
      (entry.event as { seen?: boolean }).seen = true;
      return good.encode(entry);
    },
  }),
);
testEncoder(
  "believes that there is always a snapshot",
  broken({
    encode: (entry) => {
      if (entry.event.type === EventType.STATE_SNAPSHOT)
        Object.keys(entry.event.snapshot as object);
      return good.encode(entry);
    },
  }),
);
testEncoder("remembers in spite of its key", () => {
  let count = 0;
  return { ...good, encode: (entry: LogEntry) => `${++count}${good.encode(entry) as string}` };
});
testEncoder(
  "breaks its frames",
  broken({
    contentType: "text/event-stream",
    encode: ({ event }) => `data: ${(event.delta as string | undefined) ?? event.type}\n\n`,
  }),
);
testEncoder(
  "makes one frame of several deltas",
  broken({ encodeDeltas: ({ event }) => `data: ${event.delta as string}\n\n` }),
);
testEncoder("cannot be read", broken({}), {
  parse: (chunk) => {
    if ((chunk as string).includes("RAW")) throw new Error("What?");
  },
});

function testBroken(name: string, encoder: () => Encoder, changes: object = {}): void {
  testProtocol(name, {
    createHandler: (agent, options) =>
      createAgentHandler(agent, { ...options, protocols: [ndjson(encoder)] }),
    start: (run) => post("/ndjson", runInput(run)),
    read: readLines,
    ...changes,
  });
}

const end = `${JSON.stringify({ offset: 1_000, type: "RUN_FINISHED" })}\n`;
testBroken("ends twice", broken({ close: () => end }));
testBroken(
  "speaks when idle",
  broken({ keepAlive: () => `${JSON.stringify({ offset: 1_000, type: "RAW" })}\n` }),
);
testBroken("is silent when idle", broken({ keepAlive: () => "" }));
testBroken("starts over", ndjsonEncoder, {
  resume: ({ runId }: { runId: string }) => new Request(`http://localhost/ndjson/${runId}`),
});
testBroken("does not stop", ndjsonEncoder, {
  stop: () => new Request("http://localhost/agui/info"),
});

function testBrokenBinding(name: string, change: ChangeExchange): void {
  testBinding(name, (handler) => listenSmallest(handler, change));
}

testBrokenBinding("loses the query, and reports whoever closes a connection", (_, res) => ({
  query: "",
  onLeave: (listener) => void res.once("close", listener),
}));
testBrokenBinding("is careless with what comes in one piece", (exchange) => ({
  async readAll() {
    const pieces: Uint8Array[] = [];
    for await (const piece of exchange.body()) pieces.push(piece);
    return Buffer.concat(pieces);
  },
  respond(_status, headers, body) {
    const sink = exchange.reply(200, headers);
    sink.write(body);
    sink.end();
  },
}));

function testBrokenLog(name: string, { create, second }: SharedStores): void {
  testRunLog(name, create, { second });
}

function testBrokenStore(name: string, { create, second }: SharedStores): void {
  testSessionStore(name, create, { second });
}

const joined = <Key extends ThreadKey>(key: Key): Key => {
  const [principal, ...rest] = `${key.principal}:${key.threadId}`.split(":");
  return { ...key, principal: principal!, threadId: rest.join(":") };
};

testBrokenLog(
  "takes what fits of a batch",
  breakStore(sharedStores(), ({ runs }) => ({
    runs: {
      async append(lease, entries) {
        let failed: unknown;
        for (const entry of entries) {
          await Promise.resolve(runs.append(lease, [entry])).catch((error: unknown) => {
            failed = error;
          });
        }
        if (failed) throw failed as Error;
      },
    },
  })),
);
testBrokenLog(
  "forgets where the deltas were",
  breakStore(sharedStores(), ({ runs }) => ({
    runs: { read: (key, after) => readUncut(runs, key, after) },
  })),
);
testBrokenLog(
  "changes what it is given",
  breakStore(sharedStores(), ({ runs }) => ({
    runs: {
      append(lease, entries) {
        for (const { event } of entries) event.delta = `${String(event.delta)}!`;
        return runs.append(lease, entries);
      },
    },
  })),
);
testBrokenLog(
  "joins its keys",
  breakStore(sharedStores(), ({ runs }) => ({
    runs: {
      open: (key, init) => runs.open(joined(key), init),
      active: (key) => runs.active(joined(key)),
      read: (key, after, limit) => runs.read(joined(key), after, limit),
    },
  })),
);
testBrokenLog(
  "stops whatever runs on the thread",
  breakStore(sharedStores(), ({ runs }) => ({
    runs: {
      async requestStop(key) {
        const active = await runs.active(key);
        return active ? runs.requestStop(active) : false;
      },
    },
  })),
);
testBrokenLog(
  "closes in two steps",
  breakStore(sharedStores(), ({ runs }) => {
    const closing = new Map<string, RunStatus>();
    return {
      runs: {
        async close(lease, terminal, status) {
          closing.set(lease.runId, status);
          for (let turn = 0; turn < 5; turn++) await Promise.resolve();
          closing.delete(lease.runId);
          await runs.close(lease, terminal, status);
        },
        async find(principal, runId) {
          const status = closing.get(runId);
          const record = await runs.find(principal, runId);
          return record && status ? { ...record, status } : record;
        },
      },
    };
  }),
);
testBrokenLog(
  "does not report a loss to who listens late",
  breakStore(sharedStores(), ({ runs }) => ({
    runs: {
      async open(key, init) {
        const opened = await runs.open(key, init);
        if ("busy" in opened) return opened;
        let isLost = false;
        opened.onLost(() => (isLost = true));
        const onLost: Lease["onLost"] = (listener) => {
          if (!isLost) opened.onLost(listener);
        };
        return { ...opened, onLost };
      },
    },
  })),
);
const owners = new Map<string, Lease>();
testBrokenLog(
  "does not look at the fence",
  breakStore(sharedStores(), ({ runs }) => ({
    runs: {
      async open(key, init) {
        const opened = await runs.open(key, init);
        if (!("busy" in opened)) owners.set(key.runId, opened);
        return opened;
      },
      append: (lease, entries) => runs.append(owners.get(lease.runId)!, entries),
    },
  })),
);
testBrokenLog("takes a lost run for a finished one", sharedStores(EventType.RUN_FINISHED));

testBrokenStore(
  "reads, changes and writes",
  breakStore(sharedStores(), (store) => ({
    async update(key, change, options) {
      const messages = [...((await store.get(key))?.messages ?? [])];
      const { append = [], ...rest } = change;
      const fresh = append.filter(({ id }) => !messages.some((known) => known.id === id));
      await Promise.resolve();
      return store.update(key, { messages: [...messages, ...fresh], ...rest }, options);
    },
  })),
);
testBrokenStore(
  "joins its keys",
  breakStore(sharedStores(), (store) => ({
    get: (key) => store.get(joined(key)),
    create: (key, init) => store.create(joined(key), init),
    update: (key, change, options) => store.update(joined(key), change, options),
    delete: (key) => store.delete(joined(key)),
  })),
);
testBrokenStore(
  "does not look at the lease",
  breakStore(sharedStores(), (store) => ({
    update: (key, change, { ifVersion } = {}) =>
      store.update(key, change, ifVersion === undefined ? {} : { ifVersion }),
  })),
);
const eternal = sharedStores();
testBrokenStore("forgets nothing", {
  create: (setup) => eternal.create({ ...setup, ttlMs: Number.POSITIVE_INFINITY }),
  second: eternal.second,
});
let processes = 0;
testBrokenStore(
  "has a bucket in every process",
  breakStore(sharedStores(), (store) => {
    const own = ++processes;
    return { take: (bucket, cost, rate) => store.take(`${own} ${bucket}`, cost, rate) };
  }),
);

function testBrokenCaller(name: string, caller: keyof typeof brokenCallers): void {
  const { create, second } = sharedStores(EventType.RUN_ERROR, brokenCallers[caller]);
  testSessionStore(name, create, { second, faults: true });
  testRunLog(name, create, { second, faults: true });
}

testBrokenCaller("does later what it has given up", "doesItLater");
testBrokenCaller("does twice what was not answered", "doesItTwice");
testBrokenCaller("passes the errors of its database on", "passesErrorsOn");
testBrokenCaller("leaves rejections unhandled", "forgetsRejections");
testBrokenStore(
  "moves back in time with its clock",
  breakStore(sharedStores(), (store, { clock }) => ({
    async update(key, change, options) {
      const session = await store.update(key, change, options);
      return { ...session, lastActivity: clock?.date?.() ?? session.lastActivity };
    },
  })),
);

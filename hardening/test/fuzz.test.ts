// Targets with one planted fault each: the fuzz finds every one of them, and nothing in a target without.
import { expect, test } from "vitest";
import { fuzz } from "../fuzz/fuzz.ts";
import { createRandom, seedOf } from "../fuzz/random.ts";
import { mutateText } from "../fuzz/mutate.ts";
import { createHttpFeed, encodeCase } from "../fuzz/http-case.ts";
import { createAgentHandler } from "@holodeck/agui";
import { silentLogger } from "@holodeck/agui-core";
import type { Target } from "../fuzz/target.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder();
const corpus = [encoder.encode("name: helper\nlist: [1, 2]\n")];

/** Reads text in a faulty way. */
const planted = (feed: (text: string) => Promise<string[]>): Target => ({
  name: "planted",
  extension: "txt",
  open: async () => ({
    generate: (random, known) =>
      encoder.encode(mutateText(decoder.decode(random.pick(known)), random)),
    feed: (input) => feed(decoder.decode(input)),
    close: async () => undefined,
  }),
});

function spin(): void {
  const begun = process.cpuUsage();
  for (;;) {
    const { user, system } = process.cpuUsage(begun);
    if (user + system >= 300_000) return;
  }
}

let fed = 0;
const faults: Readonly<Record<string, (text: string) => Promise<string[]>>> = {
  "thrown: Error": async (text) => {
    if (text.includes("\0")) throw new Error("NUL");
    return [];
  },
  "uncaught: ": async (text) => {
    if (text.includes("__proto__")) void Promise.reject(new Error("late"));
    return [];
  },
  "ms of CPU": async (text) => {
    // What is usual is known by then.
    if (++fed > 30 && text.length > 100) spin();
    return [];
  },
};

const options = { seconds: 20, seed: 7, corpus };

test.for(Object.entries(faults))("a reader with %s is found", async ([name, feed]) => {
  const others = process.listeners("unhandledRejection");
  process.removeAllListeners("unhandledRejection");
  let count = 0;
  const once = planted(async (text) => {
    // Enough for any fault; the time is for machines that are busy.
    if (++count > 4_000) throw new Error("not found");
    return feed(text);
  });
  const { finds } = await fuzz(once, { ...options, maxFinds: 1 });
  for (const listener of others) process.on("unhandledRejection", listener);
  expect(finds[0]?.faults.join()).toContain(name);
});

test.for(["of the corpus", "that is replayed"])("a slow input %s is found", async (which) => {
  const slow = encoder.encode("slow");
  const target = planted(async (text) => {
    if (text === "slow") spin();
    return [];
  });
  const opened = await target.open();
  const usual: Target = {
    ...target,
    open: async () => ({ ...opened, generate: () => corpus[0]! }),
  };
  const given =
    which === "of the corpus"
      ? { ...options, corpus: [slow, ...corpus] }
      : { ...options, seconds: 0, replay: slow };
  const { finds } = await fuzz(usual, { ...given, maxFinds: 1 });
  expect(finds).toMatchObject([{ input: slow, index: undefined }]);
  expect(finds[0]!.faults.join()).toContain("ms of CPU");
});

test("a case is made again by its seed and number", () => {
  const make = (): string => mutateText("name: helper", createRandom(seedOf(3, 41)));
  expect(make()).toBe(make());
});

test("a server that fails is found by its answer", async () => {
  const handler = createAgentHandler(async () => "ok", {
    logger: silentLogger,
    middleware: [
      {
        name: "planted",
        async request(_request, next) {
          const reply = await next();
          return reply.status === 404 ? { ...reply, status: 500 } : reply;
        },
      },
    ],
  });
  const feed = await createHttpFeed(handler);
  const one = {
    operation: "GET /agui/runs/{runId}/events",
    path: "/agui/runs/none/events",
    headers: {},
  };
  expect((await feed(encodeCase(one))).join()).toContain("500");
  await handler.close({ timeoutMs: 0 });
});

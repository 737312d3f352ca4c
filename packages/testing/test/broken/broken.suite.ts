import { createAgentHandler } from "@holodeck/agui";
import { EventType } from "@holodeck/agui-core";
import type { Encoder, LogEntry } from "@holodeck/agui-core";
import { runInput } from "../../src/index.ts";
import { testEncoder, testProtocol } from "../../src/vitest/index.ts";
import { ndjson, ndjsonEncoder, post, readLines } from "../ndjson.ts";

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

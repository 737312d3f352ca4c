import { agui, createAgentHandler } from "@holodeck/agui";
import type { Encoder } from "@holodeck/agui-core";
import { describe, expect, test } from "vitest";
import { runInput } from "../src/index.ts";
import { defineCases } from "../src/vitest/store/_store-bench.ts";
import { testEncoder, testProtocol, testRunLog, testSessionStore } from "../src/vitest/index.ts";
import { ndjson, ndjsonEncoder, post, readLines } from "./ndjson.ts";
import { sharedStores } from "./shared-store.ts";

testEncoder("ndjson", ndjsonEncoder, {
  parse: (chunk) => JSON.parse(chunk as string),
});

const words = new Set<string>(["TEXT_MESSAGE_CONTENT", "RUN_ERROR"]);

testEncoder(
  "text, which remembers and drops",
  (): Encoder => {
    let count = 0;
    return {
      contentType: "text/plain; charset=utf-8",
      open: () => "<",
      encode({ event }) {
        if (!words.has(event.type)) return "";
        return `${++count}${JSON.stringify(event.delta ?? event.message)}`;
      },
      close: () => `${count}>`,
    };
  },
  {
    dropped: [
      "ACTIVITY_DELTA",
      "ACTIVITY_SNAPSHOT",
      "CUSTOM",
      "MESSAGES_SNAPSHOT",
      "RAW",
      "REASONING_ENCRYPTED_VALUE",
      "REASONING_END",
      "REASONING_MESSAGE_CHUNK",
      "REASONING_MESSAGE_CONTENT",
      "REASONING_MESSAGE_END",
      "REASONING_MESSAGE_START",
      "REASONING_START",
      "RUN_FINISHED",
      "RUN_STARTED",
      "STATE_DELTA",
      "STATE_SNAPSHOT",
      "STEP_FINISHED",
      "STEP_STARTED",
      "SUBAGENT_ERROR",
      "SUBAGENT_FINISHED",
      "SUBAGENT_STARTED",
      "TEXT_MESSAGE_CHUNK",
      "TEXT_MESSAGE_END",
      "TEXT_MESSAGE_START",
      "TOOL_CALL_ARGS",
      "TOOL_CALL_CHUNK",
      "TOOL_CALL_END",
      "TOOL_CALL_RESULT",
      "TOOL_CALL_START",
    ],
  },
);

testProtocol("ndjson", {
  createHandler: (agent, options) =>
    createAgentHandler(agent, { ...options, protocols: [ndjson()] }),
  start: (run) => post("/ndjson", runInput(run)),
  resume: ({ runId, offset = 0 }) =>
    new Request(`http://localhost/ndjson/${runId}?offset=${offset}`),
  stop: ({ runId }) => post(`/ndjson/${runId}/stop`),
  read: readLines,
});

testProtocol("AG-UI 1.0", {
  createHandler: (agent, options) => createAgentHandler(agent, { ...options, protocols: [agui()] }),
  start: (run) => post("/agui", runInput({ ...run, protocolVersion: "1.0" })),
});

testProtocol("AG-UI before 1.0", {
  createHandler: (agent, options) => createAgentHandler(agent, { ...options, protocols: [agui()] }),
  start: (run) => post("/agui", runInput(run)),
});

// Their leases have the required members only.
const { create, second } = sharedStores();
testSessionStore("shared by two processes", create, { second, faults: true });
testRunLog("shared by two processes", create, { second, faults: true });

describe("leaving cases out", () => {
  const { define, finish } = defineCases({ skip: ["is left out", "is misspelt"] });
  define("is left out", async () => {
    throw new Error("It was to be left out.");
  });

  test("is an error when there is no such case", () => {
    expect(finish).toThrow("There is no such case to skip: is misspelt.");
  });
});

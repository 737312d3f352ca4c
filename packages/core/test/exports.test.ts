import { describe, expect, test } from "vitest";
import * as core from "../src/index.ts";
import * as internal from "../src/internal.ts";

// Everything here is public and follows semantic versioning: a new name needs a reason and a place in the README.
const names = [
  "AgentError",
  "EventType",
  "PROTOCOL_VERSION",
  "PatchError",
  "SUPPORTED_MIME_TYPES",
  "applyPatch",
  "assertHandler",
  "compose",
  "createDeltaFrames",
  "createFetchExchange",
  "createGuard",
  "createInputFile",
  "createReducer",
  "cutAfter",
  "defaultLimits",
  "deriveCall",
  "describeError",
  "isAgentError",
  "isBareDelta",
  "isHalted",
  "isOpaqueId",
  "lastUserText",
  "mapEvents",
  "mergeStreams",
  "silentLogger",
  "systemClock",
  "toAgent",
  "toFetch",
  "toProblem",
  "ulid",
  "withDispose",
  "withTools",
];

describe("the public names of core", () => {
  test("are these, and at most 40", () => {
    expect(Object.keys(core).sort()).toEqual([...names].sort());
    expect(names.length).toBeLessThanOrEqual(40);
  });

  test("are not exported a second time for our own packages", () => {
    expect(Object.keys(internal).filter((name) => names.includes(name))).toEqual([]);
  });
});

import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { findFailures } from "./_find-failures.ts";

const config = fileURLToPath(new URL("broken/adapter/vitest.config.ts", import.meta.url));
const approvals = [
  "runs a tool once it is approved",
  "does not run a tool that is denied",
  "runs a tool that is approved in another process",
  "accepts a denial in another process",
];
const history = "gives the model the earlier conversation, each message once";
const client = "leaves a tool of the client to the client";
const tokens = "reports the tokens of all answers of the model";
const silent = "ends the run of a model that stays silent";

test("testAdapter reports each fault, and no other", { timeout: 400_000 }, async () => {
  expect(await findFailures(config)).toEqual({
    "adapter: collects the answer": [
      "sends each piece of text before the model produces the next",
      "stops a model that never ends its answer",
      silent,
    ],
    "adapter: sends reasoning as text": ["sends reasoning, and not as text"],
    "adapter: joins arguments": ["sends the arguments of a call in pieces"],
    "adapter: makes the first call only": ["sends all calls of one answer, and their results"],
    "adapter: shows why a tool failed": ["continues after a tool that fails, without its reason"],
    "adapter: does not ask": approvals,
    "adapter: takes a no for a yes": [approvals[1], approvals[3]],
    "adapter: keeps its questions in the process": [approvals[2], approvals[3]],
    "adapter: answers for the client": [client],
    "adapter: leaves the model running": [silent],
    "adapter: passes errors on": ["fails when the model does, without the reason"],
    "adapter: does not count": [tokens],
    "adapter: counts twice": [tokens],
    "adapter: forgets the history": [history],
    "adapter: repeats the history": [client, history],
    "adapter: cuts long answers": ["sends a huge answer whole"],
  });
});

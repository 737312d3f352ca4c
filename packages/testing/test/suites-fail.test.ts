import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { findFailures } from "./_find-failures.ts";

const config = fileURLToPath(new URL("broken/vitest.config.ts", import.meta.url));

const pure = "returns the same for the same log, whenever and however often it is called";
const stateless = "remembers nothing from one entry to the next";

test("the suites find out what is broken, and nothing else", { timeout: 300_000 }, async () => {
  const { "encoder: writes into the log": meddling, ...others } = await findFailures(config);
  expect(meddling).toContain(pure);
  expect(others).toEqual({
    "encoder: forgets a kind": ["has a word for RAW"],
    "encoder: drops less than it says": ["drops what it declares to drop"],
    "encoder: draws random ids": [pure, stateless],
    "encoder: reads the clock": expect.arrayContaining([pure]),
    "encoder: believes that there is always a snapshot": [
      pure,
      "takes nothing where something may be",
      stateless,
    ],
    "encoder: remembers in spite of its key": [stateless],
    "encoder: breaks its frames": ["makes at most one frame of an entry"],
    "encoder: makes one frame of several deltas": [
      "returns for several deltas at once what it returns for each",
    ],
    "encoder: cannot be read": ["makes what its clients can read"],
    "protocol: ends twice": [
      "sends a run with every kind of event",
      "ends once when the agent sends nothing",
      "ends once when the agent throws at once",
      "ends once when the agent throws in mid-sentence",
      "ends once when the agent reports that it failed",
      "ends once when the agent speaks after the end",
      "ends once when the agent leaves things open",
    ],
    "protocol: speaks when idle": ["keeps an idle client alive without sending it events"],
    "protocol: is silent when idle": ["keeps an idle client alive without sending it events"],
    "protocol: starts over": [
      "sends a finished run again from every offset",
      "lets clients in everywhere while the run goes on",
    ],
    "protocol: does not stop": ["stops a run"],
    "binding: loses the query, and reports whoever closes a connection": [
      "shows the path after the mount, still encoded, and the whole URL",
      "is reported at once to a listener of `onLeave` that comes later",
      "is not reported when the answer had ended",
    ],
    "binding: is careless with what comes in one piece": [
      "is undefined when it is larger than allowed, and the server goes on",
      "is nothing, with status and headers",
      "is plain text, with status and headers",
      "is other text, with status and headers",
      "is a long text, with status and headers",
      "is bytes, with status and headers",
      "has no body when HEAD asked for it, nor with status 204",
    ],
    "run log: does not report a loss to who listens late": [
      "that comes back too late calls every listener, late ones at once",
    ],
    "run log: takes what fits of a batch": [
      "refuses a batch whose first entry is a repeat, and keeps nothing of it",
      "refuses a batch that starts over, and keeps nothing of it",
      "refuses a batch with a hole, and keeps nothing of it",
      "refuses a batch with a repeat, and keeps nothing of it",
      "refuses a batch in the wrong order, and keeps nothing of it",
    ],
    "run log: forgets where the deltas were": [
      "has stored in the sight of all what it has acknowledged",
      "keeps every offset exact, whatever was merged",
      "cuts again what it has cut",
      "takes deltas that were merged before, and leaves the caller's own alone",
      "keeps a message of half a million characters",
      "gives no more entries than asked for, and goes on where it was",
    ],
    "run log: changes what it is given": expect.arrayContaining([
      "takes deltas that were merged before, and leaves the caller's own alone",
    ]),
    "run log: joins its keys": [
      "keeps principals, threads and runs apart, whatever they are called",
    ],
    "run log: stops whatever runs on the thread": [
      "never hit the next run of a thread, within a process",
      "never hit the next run of a thread, from another process",
    ],
    "run log: closes in two steps": ["is seen whole or not at all"],
    "run log: does not look at the fence": [
      "refuses the owner of a run that was started again, and keeps nothing",
    ],
    "run log: takes a lost run for a finished one": [
      "that died gives its thread to the next run",
      "that died gives its run to one of many that ask at once",
      "that died is detected when its run is looked up",
      "that died is detected when its run is followed",
      "that comes back too late gets an error, and cannot write",
      "that comes back too late calls every listener, late ones at once",
    ],
    "session store: reads, changes and writes": [
      "appends messages by id, and replaces the one it has",
      "replaces all messages on demand",
      "takes its turn: a hundred at once keep their order",
      "takes its turn: a hundred at once in two processes lose nothing",
    ],
    "session store: joins its keys": [
      "belongs to its principal and thread, whatever they are called",
    ],
    "session store: does not look at the lease": [
      "is refused once the run was closed",
      "is refused while the next run has the thread",
      "is refused when the thread was deleted, and after it was made again",
      "writes neither log nor session nor pending nor checkpoint over the next run",
      "writes nothing after another process has ended its run",
    ],
    "session store: forgets nothing": [
      "makes an unused session absent everywhere, without a clean-up",
      "does not count against a session that is touched or updated",
      "does not pass for a session with a run in flight",
      "counts the sessions that a clean-up removes",
      "leaves what has expired out of the number of sessions, where a store has it",
      "counts no session that has expired",
    ],
    "session store: has a bucket in every process": ["is one for all processes"],
    "session store: does later what it has given up": [
      "that answers late makes an update once or not at all",
    ],
    "session store: does twice what was not answered": [
      "that loses an answer makes an update once or not at all",
      "that loses an answer makes a session once or not at all",
      "that answers late makes an update once or not at all",
    ],
    "run log: does twice what was not answered": [
      "that loses an answer appends a batch once or not at all, and the run can be ended",
      "that loses an answer ends a run once",
    ],
    "session store: passes the errors of its database on": [
      "that hangs makes every call fail with store-unavailable, and is used again afterwards",
      "that fails once makes an update once or not at all",
      "that fails once makes a session once or not at all",
      "that loses an answer makes an update once or not at all",
      "that loses an answer makes a session once or not at all",
      "that answers late makes an update once or not at all",
      "that answers late makes a session once or not at all",
    ],
    "run log: passes the errors of its database on": [
      "that fails once appends a batch once or not at all, and the run can be ended",
      "that loses an answer appends a batch once or not at all, and the run can be ended",
      "that answers late appends a batch once or not at all, and the run can be ended",
      "that fails once opens a run that can be found, or none",
      "that loses an answer opens a run that can be found, or none",
      "that answers late opens a run that can be found, or none",
      "that fails once ends a run once",
      "that loses an answer ends a run once",
      "that answers late ends a run once",
      "that fails once leaves no hole in what a follower receives",
      "that loses an answer leaves no hole in what a follower receives",
      "that answers late leaves no hole in what a follower receives",
    ],
    "session store: leaves rejections unhandled": expect.arrayContaining([
      "that hangs makes every call fail with store-unavailable, and is used again afterwards",
      "that answers late makes an update once or not at all",
      "that answers late makes a session once or not at all",
    ]),
    "run log: leaves rejections unhandled": expect.arrayContaining([
      "that answers late appends a batch once or not at all, and the run can be ended",
      "that answers late opens a run that can be found, or none",
      "that answers late ends a run once",
      "that answers late leaves no hole in what a follower receives",
    ]),
    "session store: moves back in time with its clock": [
      "writes neither log nor session nor pending nor checkpoint over the next run",
      "back moves no thread back in time, and keeps its order",
    ],
  });
});

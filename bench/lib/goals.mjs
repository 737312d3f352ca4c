// What the library promises, as ratios within one run, and what was measured.
import { ratios, summarize } from "./stats.mjs";
import { showRatio, times, toText } from "./table.mjs";

const goals = [
  goal("burst, Node's binding: CPU per delta to raw", 0.6, "burst", ["ours", "raw"]),
  goal("burst, three middlewares: CPU per delta to raw", 0.75, "burst", [
    "ours, 3 middlewares",
    "raw",
  ]),
  goal("burst, fetch through Hono: CPU per delta to raw", 1, "bindings", [
    "fetch through Hono",
    "raw",
  ]),
  goal("paced 300: CPU per delta to raw", 1, "paced-300", ["ours", "raw"]),
  ...["Vercel UI message stream v1", "Vercel data stream v1", "Vercel text"].map((name) =>
    goal(`${name}: CPU per delta to our AG-UI`, 1.2, "protocols", [name, "AG-UI, SSE"]),
  ),
  goal("REST JSON: CPU per delta to a hand-written endpoint", 1.5, "protocols", [
    "REST JSON",
    "raw JSON",
  ]),
  goal("10,000 idle streams: memory each to raw", 1.5, "idle", ["ours", "raw"], "memoryKb"),
  {
    name: "history of 200 messages: what one more delta costs, to no history",
    // Two differences of measured figures: this much is noise.
    limit: 1.1,
    scenario: "history",
    measure: (find) =>
      slopeRatio(
        [find("ours"), find("ours, 2,000")],
        [find("ours, no history"), find("ours, no history, 2,000")],
      ),
  },
  goal("linear, text: an event of 20,000 to one of 2,000", 1.2, "linear", [
    "ours, 20,000",
    "ours, 2,000",
  ]),
  goal("linear, state: a change of 2,000 to one of 200", 1.2, "linear", [
    "state, 2,000",
    "state, 200",
  ]),
  goal(
    "import of @holodeck/agui: CPU to rxjs",
    2,
    "import",
    ["@holodeck/agui", "rxjs"],
    "importMs",
  ),
  goal("paced 300: event to socket p99 to raw", 1.5, "paced-300", ["ours", "raw"], "lateP99Ms"),
  goal("paced 2,000: event to socket p99 to raw", 1.5, "paced-2000", ["ours", "raw"], "lateP99Ms"),
];

function goal(name, limit, scenario, [subject, base], key = "cpuUs") {
  const measure = (find) => ratios(find(subject)[key], find(base)[key]);
  return { name, limit, scenario, measure };
}

/** Every goal with its figure and `met`, `missed` or `not measured`. */
export function judge(results) {
  return goals.map(({ name, limit, scenario, measure }) => {
    const result = results[scenario];
    if (!result) return { name, limit, verdict: "not measured" };
    const find = (wanted) => {
      const found = result.subjects.find((one) => one.name === wanted);
      if (!found) throw new Error(`Scenario ${scenario} has no subject "${wanted}".`);
      return found.values;
    };
    const measured = measure(find);
    return { name, limit, measured, verdict: measured.median <= limit ? "met" : "missed" };
  });
}

/** Goals as rows of text. */
export function goalRows(judged) {
  const rows = judged.map(({ name, limit, measured, verdict }) => [
    name,
    `≤ ${times(limit)}`,
    measured ? showRatio(measured) : "–",
    verdict,
  ]);
  return [["goal", "at most", "measured", ""], ...rows];
}

/** Goals as lines for a terminal. */
export function showGoals(judged) {
  return toText(goalRows(judged));
}

// What a delta more costs: from runs of 200 and of 2,000 deltas.
function slopeRatio([short, long], [baseShort, baseLong]) {
  const slope = (from, to, round) => to.cpuUs[round] * 2_000 - from.cpuUs[round] * 200;
  return summarize(
    short.cpuUs.map((_, round) => slope(short, long, round) / slope(baseShort, baseLong, round)),
  );
}

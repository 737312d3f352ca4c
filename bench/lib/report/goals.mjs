// What the library promises, as ratios within one run, and what was measured.
import { ratios, summarize } from "../stats.mjs";
import { showRatio, times, toText } from "./table.mjs";

const goals = [
  {
    name: "burst, Node's binding: CPU per delta to raw",
    limit: 0.6,
    scenario: "burst",
    of: ["ours", "raw"],
  },
  {
    name: "burst, three middlewares: CPU per delta to raw",
    limit: 0.75,
    scenario: "burst",
    of: ["ours, 3 middlewares", "raw"],
  },
  {
    name: "burst, fetch through Hono: CPU per delta to raw",
    limit: 1,
    scenario: "bindings",
    of: ["fetch through Hono", "raw"],
  },
  {
    name: "paced 300: CPU per delta to raw",
    limit: 1,
    scenario: "paced-300",
    of: ["ours", "raw"],
  },
  ...[
    "Vercel UI message stream v1",
    "Vercel data stream v1",
    "Vercel text",
    "OpenAI chat completions",
    "OpenAI Responses",
  ].map((name) => ({
    name: `${name}: CPU per delta to our AG-UI`,
    limit: 1.2,
    scenario: "protocols",
    of: [name, "AG-UI, SSE"],
  })),
  {
    name: "REST JSON: CPU per delta to a hand-written endpoint",
    limit: 1.5,
    scenario: "protocols",
    of: ["REST JSON", "raw JSON"],
  },
  {
    name: "10,000 idle streams: memory each to raw",
    limit: 1.5,
    scenario: "idle",
    of: ["ours", "raw"],
    key: "memoryKb",
  },
  {
    name: "history of 200 messages: what one more delta costs, to no history",
    // Two differences of measured figures: a tenth is noise.
    limit: 1.1,
    scenario: "history",
    of: ["ours", "ours, 2,000", "ours, no history", "ours, no history, 2,000"],
    measure: slopeRatio,
  },
  {
    name: "linear, text: an event of 20,000 to one of 2,000",
    limit: 1.2,
    scenario: "linear",
    of: ["ours, 20,000", "ours, 2,000"],
  },
  {
    name: "linear, state: a change of 2,000 to one of 200",
    limit: 1.2,
    scenario: "linear",
    of: ["state, 2,000", "state, 200"],
  },
  {
    name: "import of @holodeck/agui: CPU to rxjs",
    limit: 2,
    scenario: "import",
    of: ["@holodeck/agui", "rxjs"],
    key: "importMs",
  },
  ...["300", "2000"].map((streams) => ({
    name: `paced ${Number(streams).toLocaleString("en")}: event to socket p99 to raw`,
    limit: 1.5,
    scenario: `paced-${streams}`,
    of: ["ours", "raw"],
    key: "lateP99Ms",
  })),
];

/**
 * Every goal with its figure and `met`, `missed` or `not measured`. A subject that is not there is a
 * mistake, unless only a part of them was asked for.
 */
export function judge(results, { isPart = false } = {}) {
  return goals.map(({ name, limit, scenario, of, key = "cpuUs", measure }) => {
    const { subjects = [] } = results[scenario] ?? {};
    const gone = of.find((wanted) => !subjects.some((one) => one.name === wanted));
    if (gone !== undefined) {
      if (isPart || !results[scenario]) return { name, limit, verdict: "not measured" };
      throw new Error(`Scenario ${scenario} has no subject "${gone}".`);
    }
    const values = of.map((wanted) => subjects.find((one) => one.name === wanted).values);
    const measured = measure ? measure(values) : ratios(...values.map((one) => one[key]));
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
function slopeRatio([short, long, baseShort, baseLong]) {
  const slope = (from, to, round) => to.cpuUs[round] * 2_000 - from.cpuUs[round] * 200;
  return summarize(
    short.cpuUs.map((_, round) => slope(short, long, round) / slope(baseShort, baseLong, round)),
  );
}

// What the documentation shows of a record of results.
import { goalRows } from "./goals.mjs";
import { drawBars } from "./svg.mjs";
import { ratioOf, times, toMarkdown, toRows } from "./table.mjs";

const always = ["cpuUs", "perSecond", "firstP50Ms", "firstP99Ms", "rssMb"];
const keysOf = {
  burst: [...always, "startMs", "packages", "installedMb"],
  "paced-300": [...always, "lateP50Ms", "lateP99Ms"],
  "paced-2000": [...always, "lateP50Ms", "lateP99Ms"],
  "stores-paced": [
    "cpuUs",
    "lateP50Ms",
    "lateP99Ms",
    "redisCpuUs",
    "redisCommands",
    "redisKbPerRun",
  ],
  idle: ["memoryKb", "heapKb"],
  resume: ["cpuUs", "firstP50Ms", "firstP99Ms"],
  import: ["importMs"],
};

/** Where and when it was measured; `note` of a record is what a reader must know before believing it. */
export function provenance({ date, rounds, machine, versions, note }) {
  const pinned = machine.pinned ? ", server and load on a core each" : "";
  return (
    `Measured on ${date}: ${machine.cpu}, ${machine.cores} cores, ${machine.memoryGb} GB, ` +
    `${machine.kernel}, Node ${versions.node}${pinned}; medians of ${rounds} rounds.${note ? ` ${note}` : ""}`
  );
}

/** Markdown for each marker in the pages: one per scenario, `goals`, `versions` and `readme`. */
export function sections(record) {
  const made = {};
  for (const [name, result] of Object.entries(record.scenarios)) {
    const note = result.isLimited
      ? `\n\nLimited to ${result.connections.toLocaleString("en")} streams by the open files of a process.`
      : "";
    const rows = toRows(result, { keys: keysOf[name] ?? always });
    made[name] = `**${result.title}**\n\n${toMarkdown(named(rows))}${note}`;
  }
  made.goals = toMarkdown(goalRows(record.goals));
  const { node, ...packages } = record.versions;
  const list = Object.entries(packages).map(([name, version]) => `\`${name}\` ${version}`);
  made.versions = `${provenance(record)} Versions: ${list.join(", ")}, Node ${node}.`;
  if (record.scenarios.burst) made.readme = readme(record);
  return made;
}

function readme(record) {
  const keys = ["cpuUs", "firstP50Ms", "rssMb", "startMs", "packages", "installedMb"];
  const rows = toRows(record.scenarios.burst, { keys, hasSpread: false });
  return `${provenance(record)}\n\n${toMarkdown(named(rows))}`;
}

// The first line of a table of Markdown must name something.
function named([header, ...rows]) {
  return [["server", ...header.slice(1)], ...rows];
}

/** The chart of the docs: CPU per delta in the two scenarios that all peers are in. */
export function chart(record) {
  const groups = ["burst", "paced-300"]
    .map((name) => record.scenarios[name])
    .filter(Boolean)
    .map((result) => ({
      title: result.title,
      bars: result.subjects.map((subject, index) => {
        const value = ratioOf(result, subject, "cpuUs").median;
        const isOurs = subject.name.startsWith("ours");
        return { name: subject.name, value, label: times(value), isOurs, isBase: index === 0 };
      }),
    }));
  return drawBars(groups, {
    title: "Server CPU per delta, hand-written node:http = 1 (less is better)",
  });
}

/** A page with what stands between its markers `<!-- bench:name -->` and `<!-- /bench -->` replaced. */
export function fillMarkers(page, made) {
  const between = /(?<=<!-- bench:([\w-]+) -->\n)[\s\S]*?(?=<!-- \/bench -->)/g;
  return page.replaceAll(between, (old, name) =>
    made[name] === undefined ? old : `\n${made[name]}\n\n`,
  );
}

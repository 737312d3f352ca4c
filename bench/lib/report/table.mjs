// Results as tables: the base with its figures, the others as ratios to it.
import { ratios, summarize } from "../stats.mjs";

/** What may be shown of a subject, in the order of the columns. `isPlain`: the figure itself, no ratio. */
const columns = [
  { key: "cpuUs", title: "CPU per {unit}", format: (n) => `${digits(n)} µs` },
  { key: "perSecond", title: "{unit}s per second", format: whole },
  { key: "firstP50Ms", title: "first byte p50", format: (n) => `${digits(n)} ms` },
  { key: "firstP99Ms", title: "first byte p99", format: (n) => `${digits(n)} ms` },
  { key: "lateP50Ms", title: "event to socket p50", format: (n) => `${digits(n)} ms` },
  { key: "lateP99Ms", title: "event to socket p99", format: (n) => `${digits(n)} ms` },
  { key: "memoryKb", title: "memory per {unit}", format: (n) => `${digits(n)} KB` },
  { key: "heapKb", title: "heap per {unit}", format: (n) => `${digits(n)} KB` },
  { key: "openMs", title: "time to open one", format: (n) => `${digits(n)} ms` },
  { key: "rssMb", title: "RSS", format: (n) => `${whole(n)} MB` },
  { key: "startMs", title: "start", format: (n) => `${whole(n)} ms` },
  { key: "startCpuMs", title: "start, CPU", format: (n) => `${whole(n)} ms` },
  { key: "importMs", title: "CPU", format: (n) => `${digits(n)} ms` },
  {
    key: "redisCpuUs",
    title: "Redis CPU per {unit}",
    format: (n) => `${digits(n)} µs`,
    isPlain: true,
  },
  {
    key: "redisCommands",
    title: "Redis commands per {unit}",
    format: (n) => digits(n),
    isPlain: true,
  },
  {
    key: "redisKbPerRun",
    title: "Redis memory per run",
    format: (n) => `${digits(n)} KB`,
    isPlain: true,
  },
  { key: "packages", title: "packages", format: whole, isPlain: true },
  { key: "installedMb", title: "installed", format: (n) => `${digits(n)} MB`, isPlain: true },
];

/** Which subject another one is measured against. */
function baseOf(result, subject) {
  const name = subject.base ?? result.subjects[0].name;
  return result.subjects.find((one) => one.name === name);
}

/** Ratio of one quantity of a subject to its base, round by round. */
export function ratioOf(result, subject, key) {
  const values = subject.values[key];
  const base = baseOf(result, subject).values[key];
  return values && base ? ratios(values, base) : undefined;
}

/** Header and rows of text. A base shows its figure, the others their ratio and its least and greatest. */
export function toRows(result, { keys, hasSpread = true } = {}) {
  const shown = columns.filter(
    ({ key }) =>
      (!keys || keys.includes(key)) &&
      result.subjects.some(({ values }) => values[key] !== undefined),
  );
  const header = ["", ...shown.map(({ title }) => title.replace("{unit}", result.unit))];
  const rows = result.subjects.map((subject) => [
    subject.base ? `${subject.name} (to ${subject.base})` : subject.name,
    ...shown.map((column) => cell(result, subject, { ...column, hasSpread })),
  ]);
  return [header, ...rows];
}

function cell(result, subject, { key, format, isPlain, hasSpread }) {
  const values = subject.values[key];
  if (values === undefined) return "–";
  if (isPlain) return format(summarize(values).median);
  const isBase = result.subjects.some((one) => baseOf(result, one) === subject);
  const figure = format(summarize(values).median);
  const ratio = ratioOf(result, subject, key);
  if (isBase && baseOf(result, subject) === subject) return figure;
  if (ratio === undefined) return figure;
  if (isBase) return `${figure} = ${times(ratio.median)}`;
  return hasSpread ? showRatio(ratio) : times(ratio.median);
}

/** `0.58 (0.55–0.61)`. */
export function showRatio({ median, min, max }) {
  return `${times(median)} (${times(min)}–${times(max)})`;
}

/** Rows as lines for a terminal. */
export function toText(rows) {
  const widths = rows[0].map((_, at) => Math.max(...rows.map((row) => row[at].length)));
  return rows
    .map((row) =>
      row
        .map((text, at) => (at === 0 ? text.padEnd(widths[at]) : text.padStart(widths[at])))
        .join("  "),
    )
    .join("\n");
}

/** Rows as a table of Markdown. */
export function toMarkdown([header, ...rows]) {
  const line = (cells) => `| ${cells.join(" | ")} |`;
  const rule = header.map((_, at) => (at === 0 ? "---" : "---:"));
  return [line(header), line(rule), ...rows.map(line)].join("\n");
}

/** A ratio with as many digits as it deserves. */
export function times(number) {
  return number >= 100 ? whole(number) : number >= 10 ? number.toFixed(1) : number.toFixed(2);
}

function digits(number) {
  return Math.abs(number) >= 100 ? whole(number) : number.toFixed(Math.abs(number) >= 10 ? 1 : 2);
}

function whole(number) {
  return Math.round(number).toLocaleString("en");
}

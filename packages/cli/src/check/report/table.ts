import type { CheckResult, RuleVerdict } from "./findings.ts";

const width = 80;
const idWidth = 18;
const verdictWidth = 11;
const indent = " ".repeat(verdictWidth);

const shown: Readonly<Record<RuleVerdict, string>> = {
  holds: "holds",
  breaks: "BREAKS",
  "does not apply": "n/a",
  "not shown": "not shown",
};
const colours: Readonly<Record<RuleVerdict, number>> = {
  holds: 32,
  breaks: 31,
  "does not apply": 2,
  "not shown": 33,
};

/** The results as a table of at most 80 columns. */
export function toReportTable(results: readonly CheckResult[], isColoured: boolean): string {
  const lines = results.flatMap((result) => {
    const { verdict, id, title } = result;
    const word = shown[verdict].padEnd(verdictWidth);
    const label = isColoured ? `\u001B[${colours[verdict]}m${word}\u001B[0m` : word;
    return [`${label}${id.padEnd(idWidth)} ${title}`, ...detailsOf(result)];
  });
  return `${lines.join("\n")}\n\n${toSummary(results)}\n`;
}

function detailsOf({ verdict, note, seen, where, rule, times = 0 }: CheckResult): string[] {
  if (verdict !== "breaks") return note === undefined ? [] : wrap("", note);
  const more = times > 1 ? ` (${times} times)` : "";
  return [
    ...wrap("seen  ", `${seen}`),
    ...wrap("in    ", `${where}${more}`),
    ...wrap("rule  ", `${rule}`),
  ];
}

/** `31 hold, 1 breaks, 2 do not apply, 9 not shown` */
export function toSummary(results: readonly CheckResult[]): string {
  const count = (verdict: RuleVerdict): number =>
    results.filter((result) => result.verdict === verdict).length;
  const [holds, breaks, exempt, hidden] = [
    count("holds"),
    count("breaks"),
    count("does not apply"),
    count("not shown"),
  ];
  const words = [
    `${holds} ${holds === 1 ? "holds" : "hold"}`,
    `${breaks} ${breaks === 1 ? "breaks" : "break"}`,
    `${exempt} ${exempt === 1 ? "does" : "do"} not apply`,
    `${hidden} not shown`,
  ];
  return words.join(", ");
}

// Long words, such as a line of JSON, are cut at the end of the column.
function wrap(label: string, text: string): string[] {
  const room = width - indent.length - label.length;
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ").flatMap((word) => pieces(word, room))) {
    if (line !== "" && line.length + 1 + word.length > room) {
      lines.push(line);
      line = word;
    } else line = line === "" ? word : `${line} ${word}`;
  }
  lines.push(line);
  return lines.map((one, index) => indent + (index === 0 ? label : " ".repeat(label.length)) + one);
}

function pieces(word: string, room: number): string[] {
  const found: string[] = [];
  for (let at = 0; at < word.length; at += room) found.push(word.slice(at, at + room));
  return found;
}

import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Check } from "../checks/check.ts";
import type { Host } from "./launch.ts";

/** How many checks a host has passed, by its name. */
export type Results = Readonly<Record<string, number>>;

const resultsFile = fileURLToPath(new URL("../results.json", import.meta.url));
const pageFile = fileURLToPath(new URL("../../docs/hosts.md", import.meta.url));
const begin = "<!-- results: written by `npm run test:hosts -- --write` -->";
const end = "<!-- end of results -->";

function readResults(): Results {
  return JSON.parse(readFileSync(resultsFile, "utf8")) as Results;
}

/** Adds results to those of earlier runs, and writes the table of the page on hosts. */
export function writeResults(
  latest: Results,
  { hosts, checks }: { hosts: readonly Host[]; checks: readonly Check[] },
): void {
  const results = { ...readResults(), ...latest };
  const known = hosts.filter(({ name }) => results[name] !== undefined);
  const kept = Object.fromEntries(known.map(({ name }) => [name, results[name]]));
  writeFileSync(resultsFile, `${JSON.stringify(kept, undefined, 2)}\n`);
  const page = readFileSync(pageFile, "utf8");
  const before = page.slice(0, page.indexOf(begin) + begin.length);
  const after = page.slice(page.indexOf(end));
  writeFileSync(pageFile, `${before}\n\n${toTable(known, checks, results)}\n\n${after}`);
}

/** The table of the page: what each host has passed, and what cannot pass there. */
function toTable(hosts: readonly Host[], checks: readonly Check[], results: Results): string {
  const rows = hosts.map(({ name, title, except = {} }) => {
    const missing = Object.entries(except).map(([check, reason]) => `${check}: ${reason}`);
    return `| \`${name}\` | ${title} | ${results[name]} of ${checks.length} | ${missing.join("; ")} |`;
  });
  return ["| name | host | checks passed | not possible |", "|---|---|---|---|", ...rows].join(
    "\n",
  );
}

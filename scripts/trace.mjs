// Prints how many rooms a request of each kind visits and how often it goes from one to another, by calls of functions.
// With the name of a request, it prints the rooms in the order of their visits.
import { execFileSync } from "node:child_process";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";

const requests = fileURLToPath(new URL("lib/traced-requests.mjs", import.meta.url));

/** The rooms of each request, in the order of their visits; neighbours differ. */
export function traceRequests() {
  const flags = ["--conditions=@holodeck/source", "--no-warnings"];
  return JSON.parse(execFileSync(process.execPath, [...flags, requests], { encoding: "utf8" }));
}

/** One line per request. */
export function tableOf(traces) {
  return Object.entries(traces)
    .map(([name, rooms]) => `${name}: ${new Set(rooms).size} rooms, ${rooms.length} hops`)
    .join("\n");
}

if (process.argv[1] && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const traces = traceRequests();
  const chosen = traces[process.argv[2]];
  console.log(chosen ? chosen.join("\n") : tableOf(traces));
}

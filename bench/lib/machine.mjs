// What a figure was measured on. No names of hosts, no paths.
import { readFileSync } from "node:fs";
import { cpus, release, totalmem, type } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { isPinned } from "./child.mjs";
import { peersFolder } from "./peers.mjs";

export function describeMachine() {
  const processors = cpus();
  return {
    cpu: processors[0]?.model.trim() ?? "unknown",
    cores: processors.length,
    memoryGb: Math.round(totalmem() / 2 ** 30),
    kernel: `${type()} ${release().split("-")[0]}`,
    openFiles: Number.isFinite(openFiles()) ? openFiles() : null,
    pinned: isPinned,
  };
}

/** Versions of Node, ours and the peers. */
export function describeVersions(names) {
  const own = fileURLToPath(new URL("../../packages/agui/", import.meta.url));
  const versions = { node: process.versions.node, "@holodeck/agui": versionIn(own) };
  for (const name of names.filter((one) => !one.startsWith("@holodeck"))) {
    versions[name] = versionIn(join(peersFolder, "node_modules", name));
  }
  return versions;
}

/** How many files a process may have open: the bound on sockets. */
export function openFiles() {
  const limit = process.report.getReport().userLimits?.open_files?.soft;
  return limit === "unlimited" || limit === undefined ? Number.POSITIVE_INFINITY : Number(limit);
}

function versionIn(folder) {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8")).version;
}

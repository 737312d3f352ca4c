// Finds a Chromium for tests with a browser, or installs one where the set-up may.
import { spawnSync } from "node:child_process";

/** The path of a Chromium. Returns undefined when there is none and none can be installed. */
export function findChromium(): string | undefined {
  const { CHROMIUM } = process.env;
  const names = [CHROMIUM, "chromium", "chromium-browser", "google-chrome"];
  for (const name of names) {
    const found = name && which(name);
    if (found) return found;
  }
  return process.getuid?.() === 0 ? installChromium() : undefined;
}

/** How to install Chromium, for the line about suites that were not run. */
export const howToGetChromium = "chromium: apt-get install chromium";

// As root, as in most containers, it does not start within its sandbox.
export const chromiumFlags: readonly string[] = ["--no-sandbox"];

function installChromium(): string | undefined {
  if (spawnSync("apt-get", ["--version"]).status !== 0) return undefined;
  const lock = ["-o", "DPkg::Lock::Timeout=120"];
  spawnSync("apt-get", [...lock, "update"]);
  spawnSync("apt-get", [...lock, "install", "-y", "--no-install-recommends", "chromium"]);
  return which("chromium");
}

function which(name: string): string | undefined {
  return spawnSync("which", [name], { encoding: "utf8" }).stdout?.trim() || undefined;
}

import { readFileSync } from "node:fs";

// One level up from `src` and from `dist` alike.
const manifest = new URL("../package.json", import.meta.url);

/** The version of this package. */
export const version: string = (JSON.parse(readFileSync(manifest, "utf8")) as { version: string })
  .version;

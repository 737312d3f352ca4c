import { existsSync, readFileSync, statSync } from "node:fs";
import { extname, join, normalize, sep } from "node:path";
import { fileURLToPath } from "node:url";

/** A file of the page, with the headers it is to be served with. */
export interface PlaygroundFile {
  readonly body: Uint8Array;
  readonly headers: Readonly<Record<string, string>>;
}

// One level up and down again, from `src` and from `dist` alike.
const folder = fileURLToPath(new URL("../dist/page/", import.meta.url));

const types: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".json": "application/json",
};

// No other origins, nothing inline, no embedding in frames. Images of an agent come as data or blobs.
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** The file of the page at a path (`/` is the page itself), or nothing when there is none. */
export function playgroundFile(path: string): PlaygroundFile | undefined {
  const file = normalize(join(folder, path === "/" ? "index.html" : path));
  const type = types[extname(file)];
  if (type === undefined || !file.startsWith(folder.endsWith(sep) ? folder : folder + sep)) return;
  if (!existsSync(join(folder, "index.html"))) throw new Error(notBuilt);
  if (!existsSync(file) || !statSync(file).isFile()) return;
  return {
    body: readFileSync(file),
    headers: {
      "content-type": type,
      "cache-control": path.startsWith("/assets/")
        ? "public, max-age=31536000, immutable"
        : "no-cache",
      "content-security-policy": policy,
      "x-content-type-options": "nosniff",
      "referrer-policy": "no-referrer",
      "cross-origin-opener-policy": "same-origin",
    },
  };
}

const notBuilt =
  "The playground's page has not been built. In the repository, run `pnpm --filter @holodeck/agui-playground build:page`.";

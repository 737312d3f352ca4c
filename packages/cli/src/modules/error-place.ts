import { readFileSync } from "node:fs";
import { SourceMap } from "node:module";
import { fileURLToPath } from "node:url";
import type { Jiti } from "jiti";
import type { FaultPlace } from "../shared/agent-fault.ts";

/** Where jiti could not read a file; its parser counts columns from 0. */
export function readSyntaxError(
  error: unknown,
): { message: string; place: FaultPlace } | undefined {
  const text = error instanceof Error ? error.message : "";
  const found = /^(?:\w+: )?(.*?)\s*\n (.+):(\d+):(\d+)$/s.exec(text);
  if (!found) return undefined;
  const [, message, file, line, column] = found as unknown as [
    string,
    string,
    string,
    string,
    string,
  ];
  return {
    message: `SyntaxError: ${message}`,
    place: { file, line: Number(line), column: Number(column) + 1 },
  };
}

/** The first frame of an error that is in a file of the user's. */
export function findPlace(error: unknown, jiti: Pick<Jiti, "transform">): FaultPlace | undefined {
  const stack = error instanceof Error ? (error.stack ?? "") : "";
  for (const line of stack.split("\n")) {
    const found = frame.exec(line);
    if (!found) continue;
    const [, at, row, column] = found as unknown as [string, string, string, string];
    const file = at.startsWith("file:") ? fileURLToPath(at.replace(/\?.*$/, "")) : at;
    if (isForeign(file)) continue;
    const place = { file, line: Number(row) };
    return { ...place, column: columnOf({ ...place, column: Number(column) }, jiti) };
  }
  return undefined;
}

// `at name (file:line:column)` or `at file:line:column`; what is Node's own has no path.
const frame =
  /^\s+at (?:async )?(?:.*\()?((?:file:\/\/)?(?:\/|[A-Za-z]:[\\/])[^()]*?):(\d+):(\d+)\)?$/;

const ownFolder = fileURLToPath(new URL("..", import.meta.url));

function isForeign(file: string): boolean {
  return file.includes("/node_modules/") || file.startsWith(ownFolder);
}

// What jiti puts in front of the first line.
const wrapper =
  "(async function (exports, require, module, __filename, __dirname, jitiImport, jitiESMResolve) { ";

// Lines stay where they are when a file is transpiled, columns do not.
function columnOf(
  { file, line, column }: Required<FaultPlace> & { line: number; column: number },
  jiti: Pick<Jiti, "transform">,
): number | undefined {
  try {
    const source = readFileSync(file, "utf8");
    const ts = /\.[cm]?ts$/.test(file);
    const code = jiti.transform({ filename: file, source, ts, async: true });
    const map = /\/\/# sourceMappingURL=data:[^,]*;base64,(\S+)\s*$/.exec(code)?.[1];
    if (map === undefined) return undefined;
    const origins = new SourceMap(JSON.parse(Buffer.from(map, "base64").toString()));
    const shift = line === 1 ? wrapper.length : 0;
    const entry = origins.findEntry(line - 1, column - 1 - shift);
    if (!("originalLine" in entry) || entry.originalLine !== line - 1) return undefined;
    return entry.originalColumn + 1;
  } catch {
    // The line alone is still useful.
    return undefined;
  }
}

import { readFileSync } from "node:fs";
import { relative } from "node:path";
import { CliError } from "./cli-error.ts";

/** Where in a file something is wrong. Lines and columns count from 1. */
export interface FaultPlace {
  readonly file: string;
  readonly line?: number | undefined;
  readonly column?: number | undefined;
}

/** An agent file that cannot be served, and where it is wrong. */
export class AgentFault extends CliError {
  readonly place: FaultPlace;
  /** What was read before it failed: a change of one of them may mend it. */
  readonly files: readonly string[];

  constructor(
    message: string,
    place: FaultPlace,
    options: { cause?: unknown; files?: readonly string[] } = {},
  ) {
    super(message, { cause: options.cause });
    this.place = place;
    this.files = options.files ?? [place.file];
  }
}

/** What people are shown of a fault: the place, what is wrong, and the line itself. */
export function showFault(message: string, place: FaultPlace, cwd: string): string {
  const { file, line, column } = place;
  const short = relative(cwd, file);
  const name = short === "" || short.startsWith("..") ? file : short;
  const at = [name, line, line === undefined ? undefined : column].filter(
    (part) => part !== undefined,
  );
  const head = `${at.join(":")}: ${message}`;
  const source = line === undefined ? undefined : readLine(file, line);
  if (source === undefined || source.trim() === "") return head;
  const gutter = `  ${line} | `;
  // Tabs stay tabs, so that the marker is below its place.
  const pad = source.slice(0, (column ?? 1) - 1).replaceAll(/[^\t]/g, " ");
  const mark = column === undefined ? "" : `\n${" ".repeat(gutter.length)}${pad}^`;
  return `${head}\n\n${gutter}${source}${mark}`;
}

function readLine(file: string, line: number): string | undefined {
  try {
    return readFileSync(file, "utf8").split(/\r?\n/)[line - 1];
  } catch {
    // The place is reported all the same.
    return undefined;
  }
}

import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { FileReport } from "./faults/report.ts";

export interface Instructions {
  readonly text: string;
  /** Where it was read from, if it was. */
  readonly file?: string;
}

/** The instructions that a file has or names. What is wrong with them is reported. */
export async function toInstructions(
  value: unknown,
  { folder, report }: { folder: string; report: FileReport },
): Promise<Instructions> {
  if (typeof value === "string") return { text: value };
  const { file, inline } = (value ?? {}) as { file?: unknown; inline?: unknown };
  if (typeof inline === "string") return { text: inline };
  // The schema has already reported the fault.
  if (typeof file !== "string" || file === "") return { text: "" };
  const path = resolve(folder, file);
  try {
    const text = (await readFile(path, "utf8")).trim();
    if (text === "") report.add(["instructions", "file"], `${file} is empty.`);
    return { text, file: path };
  } catch (error) {
    const { code } = error as { code?: string };
    const why = code === "ENOENT" ? `There is no file ${path}` : `${path} cannot be read (${code})`;
    report.add(["instructions", "file"], `${why}; it is looked for beside the agent file.`);
    return { text: "", file: path };
  }
}

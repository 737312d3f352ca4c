import { relative, resolve } from "node:path";
import { createLineReader } from "../chat/line-reader.ts";
import { usageError } from "../shared/cli-error.ts";
import type { Command, Io } from "../shared/io.ts";
import { toCommand } from "../shared/to-command.ts";
import type { FlagValues } from "../shared/to-command.ts";
import { filesInTheWay, templates, writeProject } from "./write-project.ts";
import type { Template } from "./write-project.ts";

const usage = `Usage: holodeck init [dir] [options]

Writes a small working project: an agent, a server and a test.

  --template express|hono  the server (express)
  --yes                    ask nothing
  --help

The folder must be empty; nothing is ever overwritten.
`;

const flags = {
  template: { type: "string" },
  yes: { type: "boolean", short: "y" },
} as const;

/** `holodeck init [dir]`: a project to start from. */
export const initCommand: Command = toCommand({ usage, flags, read: readOptions, run: init });

interface InitOptions {
  /** As given, relative to the current folder. */
  readonly folder: string;
  readonly template: Template | undefined;
  readonly isDecided: boolean;
}

function readOptions(
  { template, yes: isDecided = false }: FlagValues<typeof flags>,
  words: readonly string[],
): InitOptions {
  if (words.length > 1) throw usageError(`One folder, not ${words.length}.`);
  return { folder: words[0] ?? ".", template: toTemplate(template), isDecided };
}

async function init({ folder: given, template, isDecided }: InitOptions, io: Io): Promise<number> {
  const folder = resolve(io.cwd, given);
  const inTheWay = filesInTheWay(folder);
  if (inTheWay.length > 0) {
    throw usageError(`${folder} is not empty. Existing files: ${inTheWay.join(", ")}.`);
  }
  const files = writeProject(folder, template ?? (await ask(io, isDecided)));
  report(io, { folder, files });
  return 0;
}

function toTemplate(name: string | undefined): Template | undefined {
  if (name === undefined) return undefined;
  const found = templates.find((template) => template === name);
  if (found) return found;
  throw usageError(`Unknown template "${name}". Choose --template ${templates.join("|")}.`);
}

// Asks only at a terminal.
async function ask(io: Io, isDecided: boolean): Promise<Template> {
  if (isDecided || (io.input as { isTTY?: boolean }).isTTY !== true) return templates[0];
  const lines = createLineReader(io.input, io.out);
  try {
    for (;;) {
      const question = `Which server: ${templates.join(" or ")}? (${templates[0]}) `;
      const line = (await lines.ask(question))?.trim() ?? "";
      const found = line === "" ? templates[0] : templates.find((name) => name === line);
      if (found) return found;
    }
  } finally {
    lines.close();
  }
}

function report(io: Io, { folder, files }: { folder: string; files: readonly string[] }): void {
  const path = relative(io.cwd, folder);
  const commands = [...(path === "" ? [] : [`cd ${path}`]), "npm install", "npm test", "npm start"];
  const wrote = files.map((file) => `  ${file}`).join("\n");
  const next = commands.map((command) => `  ${command}`).join("\n");
  io.out.write(`Wrote to ${folder}:\n\n${wrote}\n\nNext:\n\n${next}\n`);
}

import { relative, resolve } from "node:path";
import { parseArgs } from "node:util";
import { createLineReader } from "../chat/line-reader.ts";
import { UsageError } from "../chat/target.ts";
import type { Command, Io } from "../shared/io.ts";
import { filesInTheWay, templates, writeProject } from "./write-project.ts";
import type { Template } from "./write-project.ts";

const usage = `Usage: holodeck init [dir] [options]

Writes a small working project: an agent, a server and a test.

  --template express|hono  the server (express)
  --yes                    ask nothing
  --help

The folder must be empty; nothing is ever overwritten.
`;

/** `holodeck init [dir]`: a project to start from. */
export const initCommand: Command = async (args, io) => {
  try {
    const { values, positionals } = parse(args);
    if (values.help) {
      io.out.write(usage);
      return 0;
    }
    if (positionals.length > 1) throw new UsageError(`One folder, not ${positionals.length}.`);
    const folder = resolve(io.cwd, positionals[0] ?? ".");
    const inTheWay = filesInTheWay(folder);
    if (inTheWay.length > 0) {
      throw new UsageError(`${folder} is not empty. Existing files: ${inTheWay.join(", ")}.`);
    }
    const template = toTemplate(values.template) ?? (await ask(io, values.yes ?? false));
    report(io, { folder, files: writeProject(folder, template) });
    return 0;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    io.err.write(`${error.message}\n`);
    return 2;
  }
};

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        template: { type: "string" },
        yes: { type: "boolean", short: "y" },
        help: { type: "boolean", short: "h" },
      },
    });
  } catch (error) {
    throw new UsageError(`${(error as Error).message}\n\n${usage}`);
  }
}

function toTemplate(name: string | undefined): Template | undefined {
  if (name === undefined) return undefined;
  const found = templates.find((template) => template === name);
  if (found) return found;
  throw new UsageError(`Unknown template "${name}". Choose --template ${templates.join("|")}.`);
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

import { readFileSync } from "node:fs";
import { basename, extname, resolve } from "node:path";
import { createAgentHandler } from "@holodeck/agui";
import type { AgentHandlerOptions, AgentLike, AgentMap } from "@holodeck/agui";
import { silentLogger } from "@holodeck/agui-core";
import { AgentFault } from "../../shared/agent-fault.ts";
import type { FaultPlace } from "../../shared/agent-fault.ts";
import { CliError, usageError } from "../../shared/cli-error.ts";
import type { Io } from "../../shared/io.ts";
import type { AgentModule } from "../../shared/loaded-agent.ts";
import { importModule } from "../../modules/import-module.ts";

const moduleTypes = [".ts", ".mts", ".js", ".mjs"];
const yamlTypes = [".yaml", ".yml"];

/** Reads an agent file, or makes the demo when there is none. */
export async function loadAgent(
  file: string | undefined,
  { cwd, env }: Pick<Io, "cwd" | "env">,
): Promise<AgentModule> {
  if (file === undefined) return loadDemo(env);
  const path = resolve(cwd, file);
  const type = extname(path).toLowerCase();
  if (yamlTypes.includes(type)) {
    const { loadYamlAgent } = await import("../../yaml/load.ts");
    return loadYamlAgent(path, env);
  }
  if (moduleTypes.includes(type)) return loadModuleAgent(path);
  const types = [...moduleTypes, ...yamlTypes].join(", ");
  throw usageError(
    `"${file}" is not an agent file; its name must end with one of ${types}, like holodeck serve agent.ts.`,
  );
}

async function loadDemo(env: Io["env"]): Promise<AgentModule> {
  const { createDemo } = await import("../../demo/index.ts");
  const pace = Number(env.HOLODECK_DEMO_PACE ?? 1);
  if (!(pace >= 0 && pace < Number.POSITIVE_INFINITY)) {
    throw new CliError(
      `HOLODECK_DEMO_PACE is "${env.HOLODECK_DEMO_PACE}"; it must be a number from 0 on, like 1.`,
      { exitCode: 2 },
    );
  }
  const { agents, options } = createDemo({ pace });
  return { name: "the demo agent", agent: agents, options, files: [] };
}

async function loadModuleAgent(path: string): Promise<AgentModule> {
  const { exports, files } = await importModule(path);
  // CommonJS may export the agent itself.
  const whole = typeof exports === "function" ? { default: exports as unknown } : exports;
  const name = whole.default === undefined && whole.agent !== undefined ? "agent" : "default";
  const agent = whole[name];
  const place = placeOf(path, name);
  if (agent === undefined) {
    throw new AgentFault(
      'It exports no agent; export one, like `export default async function* (input) { yield "Hello"; }`.',
      place,
      { files },
    );
  }
  const options = (whole.options ?? {}) as AgentHandlerOptions;
  check(() => createAgentHandler(agent as AgentLike | AgentMap), { place, files });
  // The agent is valid, so the options are wrong. Their warnings are logged later, once.
  const quiet = isObject(options) ? { logger: silentLogger, ...options } : options;
  check(() => createAgentHandler(agent as AgentLike | AgentMap, quiet), {
    place: placeOf(path, "options"),
    files,
  });
  return {
    name: basename(path),
    agent: agent as AgentLike | AgentMap,
    options,
    files,
  };
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

function check(make: () => unknown, where: { place: FaultPlace; files: readonly string[] }): void {
  try {
    make();
  } catch (error) {
    const { message } = error as Error;
    throw new AgentFault(message, where.place, { cause: error, files: where.files });
  }
}

/** The place of a named export in a file; its first line when the export is not found. */
function placeOf(file: string, name: string): FaultPlace {
  const lines = readFileSync(file, "utf8").split("\n");
  const patterns =
    name === "default"
      ? [/\bexport\s+default\b/, /\bas\s+default\b/, /\bmodule\.exports\b/]
      : [
          new RegExp(
            `\\bexport\\s+(?:async\\s+)?(?:const|let|var|function\\*?|class)\\s+${name}\\b`,
          ),
          new RegExp(`\\bexport\\s*\\{[^}]*\\b${name}\\b`),
        ];
  for (const pattern of patterns) {
    const at = lines.findIndex((line) => pattern.test(line));
    if (at >= 0) return { file, line: at + 1, column: lines[at]!.search(pattern) + 1 };
  }
  return { file, line: 1, column: 1 };
}

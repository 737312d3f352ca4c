import { relative, resolve } from "node:path";
import { describeValue, unknownName } from "@holodeck/agui-core/internal";
import type { ServerTool } from "@holodeck/agui-core";
import { defineTool } from "@holodeck/agui-tools";
import { AgentFault } from "../shared/agent-fault.ts";
import type { ImportedModule } from "../modules/import-module.ts";
import { reasonOf } from "../shared/reason-of.ts";
import { findModule } from "../modules/find-module.ts";
import { toYamlParameters } from "./parameters.ts";
import type { Path, FileReport } from "./faults/report.ts";
import type { ClientToolConfig, FunctionToolConfig } from "./schema/schema-tools.ts";

// Models take a hyphen too; the pattern of the file is the schema's.
const namePattern = /^[A-Za-z_][A-Za-z0-9_-]*$/;

/** The location of a tool, and what it is loaded from. */
export interface ToolPlace {
  readonly path: Path;
  readonly folder: string;
  readonly report: FileReport;
  /** The same module for the same file, however many tools are in it. */
  readonly importModule: (file: string) => Promise<ImportedModule>;
}

/** A tool that runs in the client. What is wrong with it is reported. */
export function toClientTool(
  { name, description, parameters }: ClientToolConfig,
  { path, report }: ToolPlace,
): ServerTool | undefined {
  return reported({ path: [...path, "parameters"], report }, () =>
    defineTool({ location: "client", name, description, namePattern, ...schemaOf(parameters) }),
  );
}

/** A tool of a module, and the files that were read for it. What is wrong with it is reported. */
export async function toFunctionTool(
  config: FunctionToolConfig,
  place: ToolPlace,
): Promise<{ tool?: ServerTool | undefined; files: readonly string[] }> {
  const { path, folder, report, importModule } = place;
  let loaded: ImportedModule;
  try {
    loaded = await importModule(findModule(folder, config.module));
  } catch (error) {
    report.add([...path, "module"], `The module cannot be loaded: ${whyNot(error, folder)}`);
    const files = error instanceof AgentFault ? error.files : [];
    return { files: [resolve(folder, config.module), ...files] };
  }
  const { files, exports } = loaded;
  const name = config.export ?? config.name;
  const found = Object.hasOwn(exports, name) ? exports[name] : undefined;
  if (found === undefined) {
    const at = config.export === undefined ? "module" : "export";
    const known = Object.keys(exports);
    const message =
      known.length === 0
        ? `${config.module} exports nothing; write "export function ${name}(args) { … }" there.`
        : unknownName(`exported by ${config.module}`, name, known).message;
    report.add([...path, at], message);
    return { files };
  }
  return { files, tool: toTool(found, config, place) };
}

function toTool(
  found: unknown,
  config: FunctionToolConfig,
  { path, report }: ToolPlace,
): ServerTool | undefined {
  const { name, description, parameters, approval } = config;
  const needsApproval = approval === undefined ? {} : { needsApproval: approval };
  if (isTool(found)) {
    if (parameters !== undefined) {
      report.add(
        [...path, "parameters"],
        "The module's tool already has parameters; remove these.",
      );
    }
    if (found.location === "client") {
      report.add(path, `The export is a tool of the client; write "type: client" instead.`);
    }
    return { ...found, name, description: description ?? found.description, ...needsApproval };
  }
  if (typeof found !== "function") {
    report.add(
      [...path, "export"],
      `The export must be a function or what defineTool made, not ${describeValue(found)}.`,
    );
    return undefined;
  }
  if (description === undefined) {
    report.add(
      path,
      "description is missing; the model uses it to decide whether to call the tool.",
    );
    return undefined;
  }
  return reported({ path: [...path, "parameters"], report }, () =>
    defineTool({
      name,
      description,
      namePattern,
      ...schemaOf(parameters),
      ...needsApproval,
      execute: (args, context) => (found as (...values: unknown[]) => unknown)(args, context),
    }),
  );
}

function isTool(value: unknown): value is ServerTool {
  const { invoke, description } = (value ?? {}) as Partial<ServerTool>;
  return typeof invoke === "function" && typeof description === "string";
}

function schemaOf(given: Readonly<Record<string, unknown>> | undefined): {
  parameters?: Record<string, unknown>;
} {
  const parameters = toYamlParameters(given);
  return parameters === undefined ? {} : { parameters };
}

function reported<T>(
  { path, report }: Pick<ToolPlace, "path" | "report">,
  make: () => T,
): T | undefined {
  try {
    return make();
  } catch (error) {
    report.add(path, reasonOf(error));
    return undefined;
  }
}

function whyNot(error: unknown, folder: string): string {
  const reason = reasonOf(error);
  if (!(error instanceof AgentFault)) return reason;
  const { file, line, column } = error.place;
  const at = [relative(folder, file), line, column].filter((part) => part !== undefined);
  return `${at.join(":")}: ${reason}`;
}

import { readFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import type { AgentHandlerOptions } from "@holodeck/agui";
import { isRecord, toDefinition } from "@holodeck/agui-core/internal";
import type { Limits, ServerTool, Tool } from "@holodeck/agui-core";
import type { AgentModule } from "../shared/loaded-agent.ts";
import { AgentFileError } from "./faults/agent-file-error.ts";
import { createYamlAgent } from "./agent.ts";
import { createEnvironment } from "./environment.ts";
import type { Env } from "./environment.ts";
import { explain } from "./faults/explain.ts";
import { toInstructions } from "./instructions.ts";
import { createMcpTools } from "./mcp/mcp-tools.ts";
import { toMiddleware } from "./middleware.ts";
import { toModel } from "./model.ts";
import { parseMost } from "./faults/parse-most.ts";
import { parseFile } from "./faults/report.ts";
import { modelSchema } from "./schema/schema-model.ts";
import { agentFileSchema } from "./schema/schema.ts";
import type { AgentFile } from "./schema/schema.ts";
import { findSecrets } from "./faults/secrets.ts";
import { toSessions } from "./sessions.ts";
import { withCamelKeys } from "./schema/snake-case.ts";
import { toTools } from "./tools.ts";

/** Reads, checks and builds the agent of a file. Everything that is wrong is in the one error. */
export async function readAgentFile(path: string, env: Env): Promise<AgentModule> {
  const { data, report } = parseFile(path, await readText(path));
  const folder = dirname(resolve(path));
  const environment = createEnvironment(env, report);
  const reported = findSecrets(data, report);
  const checked = agentFileSchema.safeParse(data);
  if (!checked.success) {
    explain(checked.error.issues, { schema: agentFileSchema, data, report, reported });
  }
  // Parts are looked at one by one, so that a fault in one of them hides none in the others.
  const parts = (isRecord(data) ? data : {}) as Partial<Record<keyof AgentFile, unknown>>;
  const place = { folder, environment, report };
  const model = parseMost(modelSchema, parts.model, ["temperature", "max_tokens", "top_p"]);
  const lazyModel = model && toModel(model, place);
  const instructions = await toInstructions(parts.instructions, place);
  const tools = await toTools(parts.tools, place);
  const middleware = toMiddleware(parts.middleware, place);
  const openSessions = toSessions(parts.sessions, place);
  const read = instructions.file === undefined ? [] : [instructions.file];
  const files = [resolve(path), ...read, ...tools.files];
  report.assertNoFaults(files);

  const file = checked.data!;
  const { name, description } = file;
  const limits = withCamelKeys(file.limits ?? {}) as Partial<Limits>;
  const sessions = await openSessions(limits);
  const mcp = createMcpTools(
    tools.mcp,
    tools.own.map((tool) => tool.name),
  );
  // Discovery looks at it with every request: what servers have is known when they are connected.
  const listed: Tool[] = tools.own.map(toDefinition);
  const agent = createYamlAgent({
    name,
    description,
    instructions: instructions.text,
    model: lazyModel!,
    mcp,
    onTools: (found) => listed.splice(tools.own.length, Infinity, ...found.map(toDefinition)),
  });
  return {
    name,
    ...(description === undefined ? {} : { description }),
    agent: {
      [name]: { agent, name, ...(description === undefined ? {} : { description }), tools: listed },
    },
    options: toOptions({ limits, middleware, tools: tools.own }, sessions?.sessions),
    files,
    async close() {
      await mcp.close();
      await sessions?.close();
    },
  };
}

function toOptions(
  given: {
    limits: Partial<Limits>;
    middleware: NonNullable<AgentHandlerOptions["middleware"]>;
    tools: readonly ServerTool[];
  },
  sessions: AgentHandlerOptions["sessions"],
): AgentHandlerOptions {
  const { limits, middleware, tools } = given;
  return {
    ...(Object.keys(limits).length > 0 ? { limits } : {}),
    ...(middleware.length > 0 ? { middleware } : {}),
    ...(tools.length > 0 ? { tools } : {}),
    ...(sessions ? { sessions } : {}),
  };
}

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    const { code } = error as { code?: string };
    const why = code === "ENOENT" ? "There is no such file" : `The file cannot be read (${code})`;
    throw new AgentFileError(path, [{ line: 1, column: 1, message: `${why}.` }]);
  }
}

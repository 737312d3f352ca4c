import type { AgentModule } from "../shared/loaded-agent.ts";

/**
 * The agent of an `agent.yaml`, ready for `createAgentHandler(loaded.agent, loaded.options)`. Throws an
 * `AgentFileError` with everything that is wrong with the file.
 *
 * @example
 * ```ts
 * const { agent, options } = await loadYamlAgent("agent.yaml", process.env);
 * const handler = createAgentHandler(agent, options);
 * ```
 */
export async function loadYamlAgent(
  path: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<AgentModule> {
  // YAML and zod are loaded only for such a file.
  const { readAgentFile } = await import("./read-agent-file.ts");
  return readAgentFile(path, env);
}

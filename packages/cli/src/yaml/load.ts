import type { LoadedAgent } from "../loaded-agent.ts";

/** Reads an `agent.yaml`. */
export function loadYamlAgent(
  path: string,
  _env: Readonly<Record<string, string | undefined>>,
): Promise<LoadedAgent> {
  return Promise.reject(new Error(`agent.yaml files such as ${path} cannot be read yet.`));
}

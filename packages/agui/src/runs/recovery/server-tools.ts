import { serverToolsOf } from "@holodeck/agui-core/internal";
import type { AgentLike } from "@holodeck/agui-core";
import type { Settings } from "../../options/options.ts";

/** The names of the tools that run on the server: those of the handler and those that an agent declares. */
export type ServerTools = (agent: AgentLike | undefined) => ReadonlySet<string>;

export function createServerTools({ tools }: Settings): ServerTools {
  const own = new Set(tools.flatMap(({ name, location }) => (location === "client" ? [] : name)));
  return (agent) =>
    agent && "serverTools" in agent ? new Set([...own, ...serverToolsOf(agent)]) : own;
}

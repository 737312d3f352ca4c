import { AgentError } from "@holodeck/agui-core";
import { assertAgent, isReturned } from "@holodeck/agui-core/internal";
import type { AgentLike, AgentObject, Json } from "@holodeck/agui-core";

/** An agent with its description for discovery. */
export interface AgentEntry {
  readonly agent: AgentLike;
  readonly name?: string;
  readonly description?: string;
  readonly [info: string]: unknown;
}

export type AgentMap = Readonly<Record<string, AgentLike | AgentEntry>>;

export interface LoadedAgent {
  readonly id: string;
  readonly agent: AgentLike;
  readonly info: Json;
}

export interface Agents {
  readonly all: readonly LoadedAgent[];
  /** The one for requests that name none. */
  readonly first: LoadedAgent;
  /** Absent or `default`: the default agent. Returns undefined when there is no such agent. */
  find(id: string | undefined): LoadedAgent | undefined;
}

/** One agent or a map of them, in one form. */
export function loadAgents(source: AgentLike | AgentMap, defaultAgent: string | undefined): Agents {
  const all = isSingle(source) ? [loadOne(source, defaultAgent)] : loadMap(source);
  const byId = new Map(all.map((loaded) => [loaded.id, loaded]));
  const first = defaultAgent === undefined ? all[0] : byId.get(defaultAgent);
  if (!first) {
    const known = all.map(({ id }) => `"${id}"`).join(", ");
    throw new TypeError(
      all.length === 0
        ? "The map of agents is empty; give createAgentHandler at least one agent."
        : `defaultAgent "${defaultAgent}" is not one of the agents: ${known}.`,
    );
  }
  return {
    all,
    first,
    find(id) {
      if (id === undefined) return first;
      return byId.get(id) ?? (id === "default" ? first : undefined);
    },
  };
}

export function agentNotFound(id: string | undefined): AgentError {
  return new AgentError("agent-not-found", `Agent '${id}' is not loaded on this server`);
}

// An object whose `run` is a function is an agent, so no agent of a map can be called "run".
function isSingle(source: AgentLike | AgentMap): source is AgentLike {
  if (typeof source === "function") return true;
  if (typeof source !== "object" || source === null || Array.isArray(source) || isReturned(source))
    assertAgent(source);
  return typeof (source as AgentObject).run === "function";
}

function loadOne(agent: AgentLike, id = "default"): LoadedAgent {
  assertAgent(agent);
  return load(id, agent);
}

function loadMap(source: AgentMap): LoadedAgent[] {
  return Object.entries(source).map(([id, value]) => {
    if (typeof value === "object" && value && "agent" in value && !("run" in value)) {
      const { agent, ...info } = value;
      return load(id, agent, info);
    }
    return load(id, value as AgentLike);
  });
}

function load(id: string, agent: AgentLike, info: Json = {}): LoadedAgent {
  assertAgent(agent, `Agent "${id}"`);
  const { name, description } = agent as { name?: unknown; description?: unknown };
  return {
    id,
    agent,
    info: {
      id,
      name: typeof name === "string" && name !== "" && typeof agent !== "function" ? name : id,
      ...(typeof description === "string" ? { description } : {}),
      ...info,
    },
  };
}

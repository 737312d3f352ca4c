import { assertOptions } from "@holodeck/agui-core/internal";
import { copilotkit } from "@holodeck/agui-copilotkit";
import { agui } from "@holodeck/agui-protocol";
import type { WireCase } from "@holodeck/agui-protocol";
import { rest, threads } from "@holodeck/agui-rest";
import { memorySessions } from "@holodeck/agui-sessions";
import { vercel } from "@holodeck/agui-vercel";
import type { AgentHandlerOptions } from "./options.ts";

export interface PresetOptions {
  /** How AG-UI events spell their members; `"snake"` for clients that read `thread_id`. */
  wireCase?: WireCase;
}

/** Options of `createAgentHandler` that put the protocols where clients of a known server expect them. */
export type Preset = (
  options?: PresetOptions,
) => Pick<AgentHandlerOptions, "protocols" | "basePath" | "sessions">;

/**
 * What clients of other servers call, as options to spread: `createAgentHandler(agent, { ...presets.holodeck() })`.
 *
 * @example
 * ```ts
 * createAgentHandler(agent, { ...presets.flagpilot({ wireCase: "snake" }), debug: true });
 * ```
 */
export const presets: Readonly<Record<"holodeck" | "flagpilot" | "threads" | "vercel", Preset>> = {
  /** HoloDeck: AG-UI at `/awp`, with its REST protocol, health at the root. */
  holodeck: (options = {}) => ({ protocols: [aguiAt("holodeck", "/awp", options), rest()] }),
  /** FlagPilot: everything below `/api`, AG-UI and CopilotKit at `/agui`. */
  flagpilot: (options = {}) => ({
    basePath: "/api",
    protocols: [aguiAt("flagpilot", "/agui", options), copilotkit()],
  }),
  /** The threads dialect with its own bounds: 100 threads of 50 messages. */
  threads: (options = {}) => ({
    protocols: [threads(), aguiAt("threads", "/agui", options)],
    sessions: memorySessions({ maxSessions: 100, maxMessagesPerThread: 50 }),
  }),
  /** `useChat` at `/api/chat`, with AG-UI. */
  vercel: (options = {}) => ({ protocols: [vercel(), aguiAt("vercel", "/agui", options)] }),
};

function aguiAt(preset: string, path: string, options: PresetOptions): ReturnType<typeof agui> {
  assertOptions(`presets.${preset}`, options, ["wireCase"]);
  return agui({ path, ...options });
}

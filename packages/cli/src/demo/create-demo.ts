import type { AgentHandlerOptions, AgentMap } from "@holodeck/agui";
import { createDemoAgent } from "./demo-agent.ts";
import { createEchoAgent } from "./echo-agent.ts";
import { features, help } from "./features/index.ts";
import { mailTool } from "./features/mail.ts";
import { planTool } from "./features/plan.ts";
import { createWeatherTool } from "./features/weather.ts";
import { createSloppyAgent } from "./sloppy-agent.ts";
import { suggestFeatures } from "./suggestions.ts";

export interface DemoOptions {
  /** What every pause is multiplied with; 0 for none. By default 1. */
  pace?: number;
}

/** What `createAgentHandler` takes for the demo. */
export interface Demo {
  readonly agents: AgentMap;
  readonly options: AgentHandlerOptions;
}

/** The agents that `holodeck serve` serves without a file. They need no key, no network and no model. */
export function createDemo({ pace = 1 }: DemoOptions = {}): Demo {
  if (!(Number.isFinite(pace) && pace >= 0)) {
    throw new TypeError(`pace must be a number from 0 on, such as 0 or 1, not ${pace}.`);
  }
  return {
    agents: {
      demo: {
        agent: createDemoAgent(pace),
        name: "Demo",
        description: "Shows what an agent can do: text, reasoning, tools, approvals, state, files.",
        suggestions: [...features, help].map(({ example }) => example),
      },
      sloppy: {
        agent: createSloppyAgent(pace),
        name: "Sloppy",
        description: "Breaks the rules of the protocol, which the guard repairs.",
        suggestions: ["Make a mess"],
      },
      echo: {
        agent: createEchoAgent(pace),
        name: "Echo",
        description: "Repeats the message, as Markdown.",
        suggestions: ["# Hello, *world*"],
      },
    },
    options: {
      tools: [createWeatherTool(pace), mailTool, planTool],
      middleware: [suggestFeatures()],
      // Time enough to reload a page.
      onDisconnect: { graceMs: 30_000 },
      info: { service: "holodeck-demo" },
    },
  };
}

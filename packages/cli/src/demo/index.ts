import type { AgentHandlerOptions, AgentMap } from "@holodeck/agui";

/** What `createAgentHandler` takes for the demo. */
export interface Demo {
  readonly agents: AgentMap;
  readonly options: AgentHandlerOptions;
}

/** The agents that `holodeck serve` serves without a file. */
export function createDemo(_options: { pace?: number } = {}): Demo {
  return {
    agents: {
      demo: async function* (input) {
        yield "Hello! ";
        yield `You sent ${input.messages.length} messages.`;
      },
    },
    options: { info: { service: "holodeck-demo" } },
  };
}

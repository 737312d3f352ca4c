import type { AgentHandlerOptions, AgentMap } from "@holodeck/agui";
import { createDemo } from "./create-demo.ts";
import type { Demo } from "./create-demo.ts";

export { createDemo } from "./create-demo.ts";

const demo: Demo = createDemo();

/** The demo's agents at a reader's pace. */
export const demoAgents: AgentMap = demo.agents;
/** The tools and middleware that they need. */
export const demoOptions: AgentHandlerOptions = demo.options;

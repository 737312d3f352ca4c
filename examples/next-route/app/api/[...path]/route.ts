import { createAgentHandler } from "@holodeck/agui";
import type { AgentHandler } from "@holodeck/agui";
import { agent } from "../../../lib/agent.ts";

// Next.js hands over the whole path, so the handler strips what stands in front of its routes.
const handler = createAgentHandler(agent, { basePath: "/api" });

/** Runs the agent: `POST /api/agui`. */
export const POST: AgentHandler["fetch"] = handler.fetch;

/** Discovery: `GET /api/agui/info`. */
export const GET: AgentHandler["fetch"] = handler.fetch;

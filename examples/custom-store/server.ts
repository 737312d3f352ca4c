import { createAgentHandler, lastUserText } from "@holodeck/agui";
import type { AgentFunction, AgentHandler } from "@holodeck/agui";
import { serve } from "@holodeck/agui-node";
import type { Serving } from "@holodeck/agui-node";
import { memoryKeyValue } from "./key-value.ts";
import type { KeyValue } from "./key-value.ts";
import { kvSessions } from "./kv-sessions.ts";

const agent: AgentFunction = async (input) =>
  `Message ${input.messages.length} of this thread: ${lastUserText(input)}`;

/** One server of a fleet; all of them share the database. */
export function createHandler(kv: KeyValue = memoryKeyValue()): AgentHandler {
  return createAgentHandler(agent, { sessions: kvSessions({ kv }) });
}

/** Starts the server; port 0 takes any free one. */
export function start(port = 8000): Promise<Serving> {
  return serve(createHandler(), { port });
}

import { allowAnonymous, createAgentHandler } from "@holodeck/agui";
import type { AgentHandler, AgentHandlerOptions, AgentRequest } from "@holodeck/agui";
import { silentLogger } from "@holodeck/agui-core";
import { serve } from "@holodeck/agui-node";
import { agui } from "@holodeck/agui-protocol";
import { onTestFinished } from "vitest";
import { copilotkit } from "../src/index.ts";
import type { Stage } from "./_agent.ts";

/** A handler of the agents "default" and "other", and a way to ask it without a socket. */
export function createHandler(
  stage: Pick<Stage, "agent">,
  options: AgentHandlerOptions = {},
): AgentHandler {
  const handler = createAgentHandler(
    { default: { agent: stage.agent, description: "Echoes" }, other: stage.agent },
    {
      protocols: [agui(), copilotkit()],
      authenticate: allowAnonymous(),
      logger: silentLogger,
      onDisconnect: "continue",
      ...options,
    },
  );
  onTestFinished(() => handler.close({ timeoutMs: 0 }));
  return handler;
}

/** The same on a port of its own; `url` is what a frontend is given as `runtimeUrl`. */
export async function host(
  stage: Pick<Stage, "agent">,
  options: AgentHandlerOptions = {},
): Promise<{ url: string; handler: AgentHandler }> {
  const handler = createHandler(stage, options);
  const { url, close } = await serve(handler, { port: 0, signals: false });
  onTestFinished(() => close());
  return { url: `${url}/agui`, handler };
}

/** For `authenticate`: whoever `x-user` names. */
export function byHeader({ headers }: AgentRequest): { id: string } | null {
  const id = headers.get("x-user");
  return id === null ? null : { id };
}

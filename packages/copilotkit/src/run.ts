import type { Call, ProtocolHost, Reply, RunAgentInput } from "@holodeck/agui-core";
import { aguiSseEncoder, decodeRunInput } from "@holodeck/agui-protocol";

/** Runs the agent that the path names. */
export function startRun(call: Call, host: ProtocolHost): Promise<Reply> {
  return start(call, host, isSuggestion);
}

/** Runs the agent without changing the thread: nothing of it is stored. */
export function suggest(call: Call, host: ProtocolHost): Promise<Reply> {
  return start(call, host, () => true);
}

async function start(
  call: Call,
  host: ProtocolHost,
  isEphemeral: (input: RunAgentInput) => boolean,
): Promise<Reply> {
  const { agentId } = call.params;
  const { input, protocolVersion, warnings } = await decodeRunInput(call.body, host.limits);
  if (warnings.length > 0) {
    host.logger.warn({ requestId: call.requestId, warnings }, "Parts of the input were ignored.");
  }
  const ephemeral = isEphemeral(input);
  const active = await host.start(call, { agentId, input, protocolVersion, ephemeral });
  // CopilotKit never asks for protobuf; it gets server-sent events for any `Accept`.
  return active.stream(aguiSseEncoder({ protocolVersion }), "start");
}

const suggestTool = "copilotkitSuggest";

/**
 * Clients before 1.7 and those of the single endpoint ask for suggestions by an ordinary run on a
 * thread made up for it, with this one tool, which the model must call.
 */
function isSuggestion({ tools, forwardedProps }: RunAgentInput): boolean {
  const [tool, ...more] = tools ?? [];
  if (tool?.name !== suggestTool || more.length > 0) return false;
  const { toolChoice } = (forwardedProps ?? {}) as {
    toolChoice?: { function?: { name?: unknown } };
  };
  return toolChoice?.function?.name === suggestTool;
}

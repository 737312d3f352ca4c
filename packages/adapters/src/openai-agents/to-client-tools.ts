import type { RunAgentInput } from "@holodeck/agui-core";
import { textOf } from "../_history.ts";
import { toRecord } from "../_json.ts";

/**
 * The tools of the client as tools of the SDK. A call of one ends the run like a question, and the next run has
 * its result. A name that the agent has itself is left out.
 */
export function toClientTools<T>(
  { tools, messages }: RunAgentInput,
  define: (definition: object) => T,
  taken: readonly string[],
): T[] {
  const results = new Map<string, string>();
  for (const message of messages) {
    if (message.role === "tool") results.set(message.toolCallId, textOf(message.content));
  }
  return tools
    .filter(({ name }) => !taken.includes(name))
    .map(({ name, description, parameters }) =>
      define({
        name,
        description,
        parameters: toSchema(parameters),
        strict: false,
        needsApproval: true,
        execute: (_args: unknown, _context: unknown, details: unknown) => {
          const { callId } = toRecord(toRecord(details).toolCall);
          return results.get(callId as string) ?? "There is no result.";
        },
      }),
    );
}

// The SDK takes schemas of objects only.
function toSchema(parameters: unknown): object {
  return { type: "object", properties: {}, required: [], ...toRecord(parameters) };
}

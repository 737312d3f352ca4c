import { AgentError } from "@holodeck/agui-core";
import { ToolQuestion, asText } from "@holodeck/agui-core/internal";
import type { Json, ToolContext } from "@holodeck/agui-core";
import { toRecord } from "../_json.ts";
import type { McpCallParams } from "./to-mcp-server-tool.ts";

/** What a server has asked, until the user answers. */
interface Asked {
  /** The names of its requests. */
  readonly keys: readonly string[];
  readonly requestState?: string;
}

const keyOf = (toolCallId: string): string => `mcp-question-${toolCallId}`;

/** What to throw so that the user is asked what the server needs before it can finish a call. */
export function askAbout(
  tool: string,
  { inputRequests, requestState }: Json,
  { session, toolCallId }: ToolContext,
): Error {
  const requests = Object.entries(toRecord(inputRequests)).map(([key, request]) => {
    const { method, params } = toRecord(request);
    return { key, method, params: toRecord(params) };
  });
  if (requests.length === 0 || requests.some(({ method }) => method !== "elicitation/create")) {
    return new AgentError("tool-error", `The tool "${tool}" needs what this server cannot give.`);
  }
  const state = asText(requestState);
  const keys = requests.map(({ key }) => key);
  // Not in the question: the state belongs to the two servers.
  session.set(keyOf(toolCallId), {
    keys,
    ...(state === undefined ? {} : { requestState: state }),
  } satisfies Asked);
  const urls = requests.flatMap(({ params }) => asText(params.url) ?? []);
  return new ToolQuestion({
    message: requests.map(({ params }) => asText(params.message) ?? "").join("\n"),
    responseSchema: {
      type: "object",
      properties: { approved: { type: "boolean" }, content: toContentSchema(requests) },
      required: ["approved"],
    },
    ...(urls.length === 0 ? {} : { metadata: { urls } }),
  });
}

/** The user's answer, as the server expects it with the repeated call. */
export function toInputResponses({
  session,
  toolCallId,
}: ToolContext): Pick<McpCallParams, "inputResponses" | "requestState"> {
  const asked = session.get(keyOf(toolCallId)) as Asked | null | undefined;
  const answer = session.answers.find(({ interrupt }) => interrupt.toolCallId === toolCallId);
  if (!asked || !answer) return {};
  session.set(keyOf(toolCallId), null);
  const { keys, requestState } = asked;
  const content = toRecord(toRecord(answer.payload).content);
  const responses = keys.map((key) => [
    key,
    { action: "accept", content: keys.length === 1 ? content : toRecord(content[key]) },
  ]);
  return {
    inputResponses: Object.fromEntries(responses) as Json,
    ...(requestState === undefined ? {} : { requestState }),
  };
}

interface ElicitRequest {
  readonly key: string;
  readonly params: Json;
}

// One form as it is, several under their names.
function toContentSchema(requests: readonly ElicitRequest[]): Json {
  const schemaOf = ({ params }: ElicitRequest): Json =>
    toRecord(params.requestedSchema ?? { type: "object" });
  if (requests.length === 1) return schemaOf(requests[0]!);
  const forms = requests.map((request) => [request.key, schemaOf(request)]);
  return { type: "object", properties: Object.fromEntries(forms) as Json };
}

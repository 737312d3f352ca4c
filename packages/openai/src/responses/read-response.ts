import { isOpaqueId } from "@holodeck/agui-core";
import { asText, isRecord } from "@holodeck/agui-core/internal";
import type { Json, Tool } from "@holodeck/agui-core";
import { readObjectBody, readModel } from "../shared/body.ts";
import { invalidParam } from "../shared/errors.ts";
import { readTools } from "../shared/tools.ts";
import { echoed } from "./response-object.ts";

/** A request for a response, before its input is read. */
export interface ResponseRequest {
  /** The agent. Absent: the default one. */
  readonly model: string | undefined;
  readonly input: unknown;
  readonly instructions: string | undefined;
  readonly previousId: string | undefined;
  readonly conversation: string | undefined;
  readonly isStream: boolean;
  readonly isBackground: boolean;
  readonly isStored: boolean;
  readonly tools: Tool[];
  readonly forwardedProps: Json;
  /** The members of the response that repeat the request. */
  readonly echo: Json;
}

// A member whose JSON is longer is not repeated: it would be stored with every response, and sent several times.
const maxEcho = 32_768;

/** Reads the body of `POST /responses`, all but its input. */
export function readResponseRequest(value: unknown): ResponseRequest {
  const body = readObjectBody(value);
  const {
    model,
    input,
    instructions,
    previous_response_id: previous,
    conversation,
    stream,
    stream_options: _,
    background,
    store,
    tools: offered,
    ...rest
  } = body;
  if (instructions !== undefined && instructions !== null && typeof instructions !== "string") {
    throw invalidParam("instructions", "must be a string.");
  }
  const { tools, others } = readTools(offered);
  const asked: ResponseRequest = {
    model: readModel(model),
    input,
    instructions: instructions || undefined,
    previousId: readPrevious(previous),
    conversation: readConversation(conversation),
    isStream: stream === true,
    isBackground: background === true,
    isStored: store !== false,
    tools,
    forwardedProps: others.length > 0 ? { ...rest, tools: others } : rest,
    echo: toEcho(body),
  };
  if (asked.previousId !== undefined && asked.conversation !== undefined) {
    throw invalidParam("conversation", "cannot be used together with previous_response_id.");
  }
  if (asked.isBackground && !asked.isStored) {
    throw invalidParam("background", "needs store: true, so that the response can be retrieved.");
  }
  return asked;
}

function readPrevious(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === "string") return value;
  throw invalidParam("previous_response_id", "must be the id of a response.");
}

function readConversation(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  const id = isRecord(value) ? value.id : value;
  if (isOpaqueId(id)) return id;
  throw invalidParam("conversation", "must be an id of 1 to 256 visible characters.");
}

function toEcho(body: Json): Json {
  const echo: Json = {};
  for (const name of echoed) {
    const value = body[name];
    if (value === undefined || value === null) continue;
    const shown = toShown(name, value);
    if (isShort(shown)) echo[name] = shown;
  }
  return echo;
}

function toShown(name: string, value: unknown): unknown {
  if (name === "conversation") return { id: isRecord(value) ? value.id : value };
  if (name === "instructions") return String(value).slice(0, maxEcho / 2);
  return name === "tools" && Array.isArray(value) ? toEchoedTools(value as unknown[]) : value;
}

function toEchoedTools(tools: readonly unknown[]): unknown[] {
  const isWhole = isShort(tools);
  return tools.map((tool) => {
    if (!isRecord(tool) || tool.type !== "function") return tool;
    const { name, description, parameters, strict } = tool;
    return {
      type: "function",
      name,
      description: asText(description) ?? null,
      parameters: isWhole ? (parameters ?? null) : null,
      strict: typeof strict === "boolean" ? strict : null,
    };
  });
}

function isShort(value: unknown): boolean {
  return JSON.stringify(value).length <= maxEcho;
}

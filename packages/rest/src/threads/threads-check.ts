import { isRecord } from "@holodeck/agui-core/internal";
import type { Fault, Json } from "@holodeck/agui-core";
import { isLonger } from "../shared/is-longer.ts";
import { idFault, toThreadId } from "./threads-settings.ts";
import type { ThreadIdFormat } from "./threads-settings.ts";

/** A tool that the client runs, as it describes it. */
export interface ThreadTool {
  readonly name: string;
  readonly description?: string | undefined;
  /** JSON Schema, or a list of parameters. */
  readonly parameters?: Json | readonly ThreadToolParameter[] | undefined;
  readonly timeout_seconds?: number | undefined;
}

export interface ThreadToolParameter {
  readonly name: string;
  readonly type: string;
  readonly description?: string | undefined;
  readonly required?: boolean | undefined;
  readonly default?: unknown;
}

/** The body of `POST /chat`. */
export interface ChatBody {
  readonly message: string;
  readonly thread_id?: string | null | undefined;
  readonly stream: boolean;
  readonly metadata: Json;
  readonly agent_id?: string | null | undefined;
  readonly tools: readonly ThreadTool[];
}

/** The body of `POST /tool_result`. */
export interface ToolResultBody {
  readonly execution_id: string;
  readonly thread_id?: string | null | undefined;
  readonly result?: unknown;
  readonly error?: string | null | undefined;
  readonly execution_time_ms: number;
}

/** Reads one kind of body: what it holds, and everything that is wrong with it. */
export type BodyReader<T> = (
  body: Json,
  idFormat: ThreadIdFormat,
) => { readonly data: T; readonly faults: readonly Fault[] };

/** In code points. */
export const maxMessage = 10_000;
export const parameterTypes: readonly string[] = [
  "string",
  "number",
  "integer",
  "boolean",
  "object",
  "array",
  "null",
];
export const toolName: RegExp = /^[\x21-\x7e]{1,128}$/;

/** Reads the body of `POST /chat`. */
export const readChatBody: BodyReader<ChatBody> = (body, idFormat) => {
  const faults = new Faults();
  const { stream = true, metadata = {}, tools = [] } = body;
  const { message, thread_id, agent_id } = body;
  faults.add("message", textFault("message", message) ?? messageFault(message as string));
  faults.add("thread_id", threadIdFault(thread_id, idFormat));
  faults.add("stream", typeof stream !== "boolean" && "stream must be true or false");
  faults.add("metadata", !isRecord(metadata) && "metadata must be an object");
  faults.add("agent_id", nullish(agent_id) ? undefined : textFault("agent_id", agent_id));
  checkTools(tools, faults);
  // A rule about several fields also applies when other fields are wrong: all faults are reported at once.
  if (!stream && Array.isArray(tools) && tools.length > 0) {
    faults.add("tools", "tools need stream: true, because their calls are sent in the stream");
  }
  const data = { message, thread_id, stream, metadata, agent_id, tools } as unknown as ChatBody;
  return { data, faults: faults.found };
};

/** Reads the body of `POST /tool_result`. */
export const readToolResult: BodyReader<ToolResultBody> = (body, idFormat) => {
  const faults = new Faults();
  const { execution_id, thread_id, result, error, execution_time_ms: ms } = body;
  faults.add(
    "execution_id",
    textFault("execution_id", execution_id) ?? lengthFault(execution_id as string),
  );
  faults.add("thread_id", threadIdFault(thread_id, idFormat));
  if (!nullish(error)) {
    faults.add("error", textFault("error", error) ?? (error === "" && "error cannot be empty"));
  }
  const missing = ms === undefined ? "is missing; it " : "";
  if (!Number.isFinite(ms)) {
    faults.add("execution_time_ms", `execution_time_ms ${missing}must be a number`);
  } else if ((ms as number) < 0) {
    faults.add("execution_time_ms", "execution_time_ms must not be negative");
  }
  // By presence, because `null` is a result too. Clients that send all fields send null for the other one.
  if (typeof error !== "string" && !Object.hasOwn(body, "result")) {
    faults.add("result", "result or error must be given");
  }
  if (typeof error === "string" && !nullish(result)) {
    faults.add("error", "error must not be given together with a result");
  }
  return { data: body as unknown as ToolResultBody, faults: faults.found };
};

class Faults {
  readonly found: Fault[] = [];

  /** Our messages begin with the field; only what is inside a list needs its place. */
  add(path: string, message: string | false | undefined): void {
    if (message === undefined || message === false) return;
    this.found.push({ path, message: path.includes(".") ? `${path}: ${message}` : message });
  }
}

function nullish(value: unknown): value is null | undefined {
  return value === undefined || value === null;
}

function textFault(name: string, value: unknown): string | undefined {
  if (typeof value === "string") return undefined;
  return `${name} ${value === undefined ? "is missing; it " : ""}must be a string`;
}

function messageFault(message: string): string | undefined {
  if (message.trim() === "") return "message cannot be blank";
  const isLong = isLonger(message, maxMessage);
  return isLong ? `message must have at most ${maxMessage} characters` : undefined;
}

function lengthFault(id: string): string | undefined {
  if (id === "") return "execution_id cannot be empty";
  return id.length > 300 ? "execution_id must have at most 300 characters" : undefined;
}

function threadIdFault(id: unknown, idFormat: ThreadIdFormat): string | undefined {
  if (nullish(id)) return undefined;
  const isId = typeof id === "string" && toThreadId(id, idFormat) !== undefined;
  return textFault("thread_id", id) ?? (isId ? undefined : idFault(idFormat));
}

function checkTools(tools: unknown, faults: Faults): void {
  if (!Array.isArray(tools)) return faults.add("tools", "tools must be an array");
  const before = faults.found.length;
  tools.forEach((tool, index) => checkTool(tool, `tools.${index}`, faults));
  const names = new Set(tools.map((tool) => (tool as Json | null)?.["name"]));
  if (faults.found.length === before && names.size < tools.length) {
    faults.add("tools", "tools must have different names");
  }
}

function checkTool(tool: unknown, at: string, faults: Faults): void {
  if (!isRecord(tool)) return faults.add(at, "a tool must be an object");
  const { name, description = "", parameters, execution_location: location } = tool;
  const isName = typeof name === "string" && toolName.test(name);
  const words = "name must have 1 to 128 visible characters";
  faults.add(`${at}.name`, textFault("name", name) ?? (!isName && words));
  faults.add(`${at}.description`, textFault("description", description));
  if (Array.isArray(parameters)) {
    parameters.forEach((one, index) => checkParameter(one, `${at}.parameters.${index}`, faults));
  } else if (parameters !== undefined && !isRecord(parameters)) {
    faults.add(`${at}.parameters`, "parameters must be an object or an array");
  }
  if (location !== undefined && location !== "client") {
    const message = 'execution_location must be "client": the server has its own tools';
    faults.add(`${at}.execution_location`, message);
  }
  const { timeout_seconds: seconds = 1 } = tool;
  if (!Number.isFinite(seconds)) {
    faults.add(`${at}.timeout_seconds`, "timeout_seconds must be a number");
  } else if ((seconds as number) <= 0) {
    faults.add(`${at}.timeout_seconds`, "timeout_seconds must be above 0");
  }
}

function checkParameter(parameter: unknown, at: string, faults: Faults): void {
  if (!isRecord(parameter)) return faults.add(at, "a parameter must be an object");
  const { name, type, description = "", required = true } = parameter;
  const words = textFault("name", name) ?? (name === "" && "name cannot be empty");
  faults.add(`${at}.name`, words);
  if (!parameterTypes.includes(type as string)) {
    faults.add(`${at}.type`, `type must be one of ${parameterTypes.join(", ")}`);
  }
  faults.add(`${at}.description`, textFault("description", description));
  faults.add(`${at}.required`, typeof required !== "boolean" && "required must be true or false");
}

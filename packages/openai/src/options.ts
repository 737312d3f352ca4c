import { assertOptions, describeValue } from "@holodeck/agui-core/internal";
import type { ProtocolHost } from "@holodeck/agui-core";
import type { ServerToolDisplay } from "./shared/answer-reader.ts";
import type { ApprovalDisplay } from "./responses/response-note.ts";
import type { InstructionsTarget } from "./shared/instructions.ts";

/** Where the models are served, and what their clients are shown. */
export interface OpenAiOptions {
  /**
   * The base URL of clients, below the server's.
   * @default "/v1"
   */
  path?: string;
  /**
   * How the calls of server tools are shown: as a line of reasoning each, or not at all. They are never sent as
   * `tool_calls`, which clients would try to make themselves.
   * @default "reasoning"
   */
  serverTools?: ServerToolDisplay;
  /**
   * Where system and developer messages of clients go: to `input.context`, or to `input.messages`, where a handler
   * without `trustClientHistory` drops them.
   * @default "context"
   */
  instructions?: InstructionsTarget;
  /**
   * How the Responses API asks for approvals of server tools: by `mcp_approval_request` items, or by a call of the
   * function `approve`, for clients that know only functions.
   * @default "mcp"
   */
  approvals?: ApprovalDisplay;
  /**
   * How many responses one caller may have running in the background, in one process. More are refused with 429: no
   * connection has to be held for them, and their threads take the places of others.
   * @default 100
   */
  backgroundResponses?: number;
}

/** Every option, with its default. */
export interface OpenAiSettings extends Required<OpenAiOptions> {}

/** The settings, and the handler that the protocol is mounted on. */
export interface Mounted extends OpenAiSettings {
  readonly host: ProtocolHost;
  /** How many responses of each caller run in the background. */
  readonly background: Map<string, number>;
}

const choices = {
  serverTools: ["reasoning", "hidden"],
  instructions: ["context", "messages"],
  approvals: ["mcp", "function"],
} as const;

/** Checks the options and adds the defaults. */
export function resolveOpenAiOptions(options: OpenAiOptions): OpenAiSettings {
  assertOptions("openai", options, ["path", "backgroundResponses", ...Object.keys(choices)]);
  const { path = "/v1", serverTools = "reasoning" } = options;
  const { instructions = "context", approvals = "mcp", backgroundResponses = 100 } = options;
  if (typeof path !== "string" || !path.startsWith("/")) {
    throw new TypeError(`openai({ path: ${describeValue(path)} }) must start with "/".`);
  }
  if (!(backgroundResponses >= 0)) {
    const given = describeValue(backgroundResponses);
    throw new TypeError(`openai({ backgroundResponses: ${given} }) must be a number from 0 on.`);
  }
  const settings = {
    path: path.replace(/\/$/, ""),
    serverTools,
    instructions,
    approvals,
    backgroundResponses,
  };
  for (const [name, known] of Object.entries(choices)) {
    const value = settings[name as keyof typeof choices];
    if ((known as readonly string[]).includes(value)) continue;
    const list = known.map((one) => JSON.stringify(one)).join(" or ");
    throw new TypeError(`openai({ ${name}: ${describeValue(value)} }) must be ${list}.`);
  }
  return settings;
}

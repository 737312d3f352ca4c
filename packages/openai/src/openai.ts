import type { Protocol, ProtocolHost, Route } from "@holodeck/agui-core";
import { completeChat } from "./chat/complete-chat.ts";
import { getModel, listModels } from "./models/models.ts";
import {
  cancelOperation,
  completionOperation,
  createOperation,
  getOperation,
  inputItemsOperation,
  listOperation,
  modelOperation,
} from "./operations.ts";
import { resolveOpenAiOptions } from "./options.ts";
import type { OpenAiOptions, OpenAiSettings } from "./options.ts";
import { createResponse } from "./responses/create-response.ts";
import { cancelResponse, getResponse, listInputItems } from "./responses/get-response.ts";
import { errorReply } from "./shared/errors.ts";
import { toSeconds } from "./shared/wire.ts";

/**
 * Agents as models, for every client of OpenAI's API: `GET /v1/models` lists them, `POST /v1/chat/completions`
 * and `POST /v1/responses` ask one.
 *
 * @example
 * ```ts
 * createAgentHandler({ helper: agent }, { protocols: [openai()] });
 * ```
 */
export function openai(options: OpenAiOptions = {}): Protocol {
  const settings = resolveOpenAiOptions(options);
  return {
    name: "openai",
    history: "client",
    routes: (host) => routesOf(settings, host).map(withErrors),
    describe: () => ({ protocols: { openai: { path: settings.path || "/" } } }),
  };
}

function withErrors(route: Route): Route {
  return { ...route, fail: errorReply, failsUnread: true };
}

function routesOf(settings: OpenAiSettings, host: ProtocolHost): Route[] {
  const { path } = settings;
  const mounted = { ...settings, host, background: new Map<string, number>() };
  // The time since when they are served: agents have no date.
  const created = toSeconds(Date.now());
  return [
    {
      method: "GET",
      path: `${path}/models`,
      handle: () => listModels(host, created),
      operation: listOperation,
    },
    {
      method: "GET",
      path: `${path}/models/:id`,
      handle: (call) => getModel(call, host, created),
      operation: modelOperation,
    },
    {
      method: "POST",
      path: `${path}/chat/completions`,
      body: "json",
      handle: (call) => completeChat(call, mounted),
      operation: completionOperation,
    },
    {
      method: "POST",
      path: `${path}/responses`,
      body: "json",
      handle: (call) => createResponse(call, mounted),
      operation: createOperation,
    },
    {
      method: "GET",
      path: `${path}/responses/:id`,
      handle: (call) => getResponse(call, host),
      operation: getOperation,
    },
    {
      method: "POST",
      path: `${path}/responses/:id/cancel`,
      body: "optional-json",
      handle: (call) => cancelResponse(call, host),
      operation: cancelOperation,
    },
    {
      method: "GET",
      path: `${path}/responses/:id/input_items`,
      handle: (call) => listInputItems(call, host),
      operation: inputItemsOperation,
    },
  ];
}

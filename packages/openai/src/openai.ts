import type { Protocol, ProtocolHost, Route } from "@holodeck/agui-core";
import { answerCompletion } from "./chat/chat.ts";
import { getModel, listModels } from "./models/models.ts";
import { completionOperation, listOperation, modelOperation } from "./operations.ts";
import { resolveOpenAiOptions } from "./options.ts";
import type { OpenAiOptions, OpenAiSettings } from "./options.ts";
import { errorReply } from "./shared/errors.ts";
import { toSeconds } from "./shared/wire.ts";

/**
 * Agents as models, for every client of OpenAI's API: `GET /v1/models` lists them, `POST /v1/chat/completions`
 * asks one.
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
  const mounted = { ...settings, host };
  // The time since when they are served: agents have no date of their own.
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
      handle: (call) => answerCompletion(call, mounted),
      operation: completionOperation,
    },
  ];
}

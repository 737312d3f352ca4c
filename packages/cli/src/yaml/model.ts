import type { LanguageModel } from "ai";
import type { Environment } from "./environment.ts";
import type { FileReport } from "./faults/report.ts";
import type { ModelConfig } from "./schema/schema-model.ts";

/** A model that is made when it is first needed: nothing of the AI SDK is loaded before. */
export interface LazyModel {
  load(): Promise<LanguageModel>;
  /** As `streamText` takes it. */
  readonly settings: {
    readonly temperature?: number;
    readonly maxOutputTokens?: number;
    readonly topP?: number;
  };
  /** Whether results of tools may carry images; elsewhere they would be sent as text. */
  readonly takesImages: boolean;
}

const keyVariables: Readonly<Record<string, string>> = {
  openai: "OPENAI_API_KEY",
  anthropic: "ANTHROPIC_API_KEY",
  azure: "AZURE_OPENAI_API_KEY",
  azure_openai: "AZURE_OPENAI_API_KEY",
};

const ollama = "http://127.0.0.1:11434/v1";

/** The model that a file names. What is missing for it is reported. */
export function toModel(
  config: ModelConfig,
  { environment, report }: { environment: Environment; report: FileReport },
): LazyModel {
  const { temperature, max_tokens: maxOutputTokens, top_p: topP } = config;
  const connect = toConnector(config, environment, report);
  let loading: Promise<LanguageModel> | undefined;
  const given = { temperature, maxOutputTokens, topP };
  return {
    load: () => (loading ??= connect()),
    settings: Object.fromEntries(Object.entries(given).filter(([, one]) => one !== undefined)),
    takesImages:
      config.provider === "anthropic" || (config.provider === "openai" && !config.base_url),
  };
}

function toConnector(
  config: ModelConfig,
  environment: Environment,
  report: FileReport,
): () => Promise<LanguageModel> {
  if (config.provider === "demo") {
    return async () => (await import("./demo-model.ts")).createDemoModel(config.name);
  }
  const { provider, name } = config;
  const keyVariable = config.api_key_env ?? keyVariables[provider];
  const apiKey =
    keyVariable === undefined ? undefined : environment.need(keyVariable, ["model", "api_key_env"]);
  const base = toAddress(config, { environment, report });
  switch (provider) {
    case "openai":
      return async () => {
        const { createOpenAI } = await import("@ai-sdk/openai");
        const openai = createOpenAI({ ...base, apiKey: apiKey! });
        // OpenAI-compatible servers mostly support chat completions only.
        return base.baseURL === undefined ? openai(name) : openai.chat(name);
      };
    case "anthropic":
      return async () => {
        const { createAnthropic } = await import("@ai-sdk/anthropic");
        return createAnthropic({ ...base, apiKey: apiKey! })(name);
      };
    case "azure":
    case "azure_openai":
      return async () => {
        const { createAzure } = await import("@ai-sdk/azure");
        const { api_version: apiVersion } = config;
        const version = apiVersion === undefined ? {} : { apiVersion };
        return createAzure({ ...base, ...version, apiKey: apiKey! }).chat(name);
      };
    default:
      return async () => {
        const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
        const key = apiKey === undefined ? {} : { apiKey };
        const baseURL = base.baseURL ?? ollama;
        return createOpenAICompatible({ name: provider, baseURL, ...key, includeUsage: true })(
          name,
        );
      };
  }
}

function toAddress(
  config: Exclude<ModelConfig, { provider: "demo" }>,
  { environment, report }: { environment: Environment; report: FileReport },
): { baseURL?: string; resourceName?: string } {
  const read = (key: string, value: string): string => {
    const path = ["model", key];
    const address = environment.expand(value, path);
    if (!URL.canParse(address)) report.add(path, `model.${key} is not a URL.`);
    return address.replace(/\/+$/, "");
  };
  const { base_url: baseUrl } = config;
  const own = baseUrl === undefined ? {} : { baseURL: read("base_url", baseUrl) };
  if (config.provider !== "azure" && config.provider !== "azure_openai") return own;
  const { resource, endpoint } = config;
  const given = [resource, endpoint, baseUrl].filter((one) => one !== undefined);
  if (given.length !== 1) {
    const wrong = given.length === 0 ? "needs" : "takes only one of";
    report.add(
      ["model"],
      `Azure ${wrong} resource, endpoint or base_url, like "resource: my-resource".`,
    );
  }
  if (resource !== undefined) return { resourceName: resource };
  return endpoint === undefined ? own : { baseURL: `${read("endpoint", endpoint)}/openai` };
}

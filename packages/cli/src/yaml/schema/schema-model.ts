import { z } from "zod";
import { envName, field, textField } from "./schema-field.ts";

interface Sampling {
  readonly temperature?: number | undefined;
  readonly max_tokens?: number | undefined;
  readonly top_p?: number | undefined;
}

interface Endpoint {
  readonly base_url?: string | undefined;
  readonly api_key_env?: string | undefined;
}

/** The model, as configured in the file. */
export type ModelConfig =
  | ({ readonly provider: "openai" | "anthropic" | "ollama"; readonly name: string } & Sampling &
      Endpoint)
  | ({
      readonly provider: "openai-compatible";
      readonly name: string;
      readonly base_url: string;
      readonly api_key_env?: string | undefined;
    } & Sampling)
  | ({
      readonly provider: "azure" | "azure_openai";
      readonly name: string;
      readonly resource?: string | undefined;
      readonly endpoint?: string | undefined;
      readonly api_version?: string | undefined;
    } & Sampling &
      Endpoint)
  | ({ readonly provider: "demo"; readonly name?: string | undefined } & Sampling);

const address = (): z.ZodString =>
  z.string().regex(/^(?:https?:\/\/\S+|\S*\$\{[A-Za-z_]\w*\}\S*)$/, {
    error: 'must be an address, like "https://models.example.com/v1"',
  });

const name = field(textField(), {
  title: "Model name",
  description: "The model, by the name its provider gives it.",
  examples: ["gpt-4o-mini"],
});

const sampling = {
  temperature: field(z.number().min(0).max(2), {
    title: "Temperature",
    description: "The sampling temperature, from 0 to 2. By default the provider's.",
    examples: [0.3],
  }).optional(),
  max_tokens: field(z.int().min(1), {
    title: "Longest answer",
    description: "The maximum number of tokens in one answer. By default the provider's limit.",
    examples: [1000],
  }).optional(),
  top_p: field(z.number().min(0).max(1), {
    title: "Nucleus sampling",
    description: "Nucleus sampling: the share of probability to sample from, 0 to 1.",
    examples: [0.9],
  }).optional(),
};

const baseUrl = field(address(), {
  title: "Base URL",
  description:
    "The provider's base URL, including its version. `${NAME}` is taken from the environment.",
  examples: ["http://127.0.0.1:8080/v1"],
});

const apiKeyEnv = field(envName(), {
  title: "API key variable",
  description: "The environment variable that holds the API key. Never write the key itself here.",
  examples: ["OPENAI_API_KEY"],
}).optional();

const provider = {
  title: "Provider",
  description:
    "Who runs the model: openai, anthropic, azure, ollama, openai-compatible (any such base_url), or demo, which needs no key and no network.",
};

const hosted = { name, ...sampling, base_url: baseUrl.optional(), api_key_env: apiKeyEnv };

/** `model` of an agent file. */
export const modelSchema: z.ZodType<ModelConfig> = field(
  z.discriminatedUnion("provider", [
    z.strictObject({ provider: field(z.literal("openai"), provider), ...hosted }),
    z.strictObject({ provider: field(z.literal("anthropic"), provider), ...hosted }),
    z.strictObject({
      provider: field(z.literal(["azure", "azure_openai"]), provider),
      ...hosted,
      resource: field(textField(), {
        title: "Azure resource",
        description: "The name of the Azure OpenAI resource. Give this or `endpoint`.",
        examples: ["my-resource"],
      }).optional(),
      endpoint: field(address(), {
        title: "Azure endpoint",
        description: "The address of the Azure OpenAI resource. Give this or `resource`.",
        examples: ["https://my-resource.openai.azure.com"],
      }).optional(),
      api_version: field(textField(), {
        title: "Azure API version",
        description: "The `api-version` of every request. By default v1.",
        examples: ["v1"],
      }).optional(),
    }),
    z.strictObject({ provider: field(z.literal("ollama"), provider), ...hosted }),
    z.strictObject({
      provider: field(z.literal("openai-compatible"), provider),
      ...hosted,
      base_url: baseUrl,
    }),
    z.strictObject({
      provider: field(z.literal("demo"), provider),
      name: name.optional(),
      ...sampling,
    }),
  ]),
  {
    title: "Model",
    description: "Which model answers, and where it runs.",
    examples: [{ provider: "demo" }],
  },
);

import { z } from "zod";
import { field, textField } from "./schema-field.ts";
import { limitsSchema } from "./schema-limits.ts";
import { middlewareSchema } from "./schema-middleware.ts";
import type { MiddlewareConfig } from "./schema-middleware.ts";
import { modelSchema } from "./schema-model.ts";
import type { ModelConfig } from "./schema-model.ts";
import { toolSchema } from "./schema-tools.ts";
import type { ToolConfig } from "./schema-tools.ts";

/** An agent file whose every part has the right shape. */
export interface AgentFile {
  readonly name: string;
  readonly description?: string | undefined;
  readonly model: ModelConfig;
  readonly instructions: string | { readonly file: string } | { readonly inline: string };
  readonly tools?: readonly ToolConfig[] | undefined;
  readonly sessions?: string | undefined;
  readonly limits?: Record<string, number | undefined> | undefined;
  readonly middleware?: readonly MiddlewareConfig[] | undefined;
}

const elsewhere = (title: string): z.ZodType =>
  field(z.unknown(), {
    title,
    description: "For other commands of HoloDeck; serving an agent does not read it.",
  }).optional();

/** The one schema of `agent.yaml`: files are checked with it, and editors get it as JSON Schema. */
export const agentFileSchema: z.ZodType<AgentFile> = field(
  z.strictObject({
    name: field(textField().max(128), {
      title: "Name",
      description: "What the agent is called, in discovery and in URLs.",
      examples: ["support"],
    }),
    description: field(textField(), {
      title: "Description",
      description: "What the agent is for, in a sentence.",
      examples: ["Answers questions about orders."],
    }).optional(),
    model: modelSchema,
    instructions: field(
      z.union([
        textField(),
        z.strictObject({
          file: field(textField(), {
            title: "Instructions file",
            description: "A text file, from the folder of this file.",
            examples: ["instructions.md"],
          }),
        }),
        z.strictObject({
          inline: field(textField(), {
            title: "Inline instructions",
            description: "The instructions themselves.",
            examples: ["You help with orders."],
          }),
        }),
      ]),
      {
        title: "Instructions",
        description: "The instructions for the model: text, or { file: path }.",
        examples: ["You help with orders."],
      },
    ),
    tools: field(z.array(toolSchema).max(128), {
      title: "Tools",
      description: "What the model may call.",
      examples: [[]],
    }).optional(),
    sessions: field(
      z
        .string()
        .regex(
          /^(?:memory|sqlite:.+|rediss?:\/\/\S+|postgres(?:ql)?:\/\/\S+|\$\{[A-Za-z_]\w*\})$/,
          {
            error:
              'must be "memory", "sqlite:PATH", "redis://HOST:PORT", "postgres://HOST/DATABASE" or "${NAME}"',
          },
        ),
      {
        title: "Sessions",
        description:
          "Where threads are kept: memory, sqlite:PATH, redis://HOST:PORT, postgres://HOST/DATABASE, or ${NAME}.",
        examples: ["sqlite:./threads.db"],
      },
    ).optional(),
    limits: limitsSchema.optional(),
    middleware: field(z.array(middlewareSchema), {
      title: "Middleware",
      description: "Outermost first: names, or names with options.",
      examples: [["logging", { rate_limit: { runs: 20 } }]],
    }).optional(),
    author: elsewhere("Author"),
    evaluations: elsewhere("Evaluations"),
    test_cases: elsewhere("Test cases"),
    observability: elsewhere("Observability"),
    deployment: elsewhere("Deployment"),
  }),
  { title: "HoloDeck agent", description: "An agent that `holodeck serve` can serve." },
);

/** What editors are given. */
export function agentFileJsonSchema(): Record<string, unknown> {
  const { $schema, ...rest } = z.toJSONSchema(agentFileSchema, { target: "draft-7", io: "input" });
  return { $schema, $id: "https://holodeck.dev/schemas/agent.schema.json", ...rest };
}

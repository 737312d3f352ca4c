import type { Tool } from "@holodeck/agui-core";

/** A tool that the model may call and that `streamText` does not run. */
export interface AiSdkTool<TSchema> {
  readonly description: string;
  readonly inputSchema: TSchema;
}

/**
 * `input.tools` as `streamText` takes them. They have no `execute`: the call is the client's to answer.
 * `jsonSchema` is the function of that name of `ai`.
 *
 * @example
 * ```ts
 * streamText({ model, messages, tools: toAiSdkTools(input.tools, jsonSchema) });
 * ```
 */
export function toAiSdkTools<TSchema>(
  tools: readonly Pick<Tool, "name" | "description" | "parameters">[],
  jsonSchema: (schema: object) => TSchema,
): Record<string, AiSdkTool<TSchema>> {
  return Object.fromEntries(
    tools.map(({ name, description, parameters }) => {
      const schema: object = parameters ?? { type: "object", properties: {} };
      return [name, { description, inputSchema: jsonSchema(schema) }];
    }),
  );
}

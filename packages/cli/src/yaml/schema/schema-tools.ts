import { z } from "zod";
import { envName, field, textField } from "./schema-field.ts";

interface Named {
  readonly name: string;
}

export interface FunctionToolConfig extends Named {
  readonly type: "function";
  readonly description?: string | undefined;
  readonly module: string;
  readonly export?: string | undefined;
  readonly parameters?: Record<string, unknown> | undefined;
  readonly approval?: boolean | undefined;
}

export interface ClientToolConfig extends Named {
  readonly type: "client";
  readonly description: string;
  readonly parameters?: Record<string, unknown> | undefined;
}

export interface McpConfig extends Named {
  readonly type: "mcp";
  readonly description?: string | undefined;
  readonly transport?: "stdio" | "http" | undefined;
  readonly command?: string | undefined;
  readonly args?: readonly string[] | undefined;
  readonly env?: readonly string[] | Record<string, string> | undefined;
  readonly url?: string | undefined;
  readonly headers?: Record<string, string> | undefined;
  readonly allow?: readonly string[] | undefined;
  readonly approval?: boolean | readonly string[] | undefined;
  readonly timeout?: number | undefined;
}

export type ToolConfig = FunctionToolConfig | ClientToolConfig | McpConfig;

const name = field(
  z.string().regex(/^[A-Za-z_][A-Za-z0-9_-]{0,63}$/, {
    error:
      "must be letters, digits, _ and -, at most 64, and begin with a letter or _, as models require",
  }),
  {
    title: "Tool name",
    description: "The name of the tool for the model. Tool names must be unique.",
    examples: ["get_weather"],
  },
);

const description = field(textField(), {
  title: "Tool description",
  description: "What the model reads when it decides whether to call the tool.",
  examples: ["The weather of a city, now."],
});

const parameters = field(z.record(z.string(), z.unknown()), {
  title: "Parameters",
  description:
    "A JSON Schema of type object, or parameters by name with their type and description. By default none.",
  examples: [{ city: { type: "string", description: "Where." } }],
}).optional();

const approval = field(z.boolean(), {
  title: "Approval",
  description: "Whether a person has to allow every call first. By default not.",
  examples: [true],
});

const type = {
  title: "Tool type",
  description:
    "function: of a module, runs here. client: the frontend runs it. mcp: all tools of an MCP server.",
};

/** One of `tools` of an agent file. */
export const toolSchema: z.ZodType<ToolConfig> = z.discriminatedUnion("type", [
  z.strictObject({
    type: field(z.literal("function"), type),
    name,
    description: description.optional(),
    module: field(textField(), {
      title: "Module",
      description: "A TypeScript or JavaScript file, from the folder of this file, or a package.",
      examples: ["./tools.ts"],
    }),
    export: field(textField(), {
      title: "Export",
      description:
        "The function (args, context) => result, or what defineTool made. By default the tool's name.",
      examples: ["getWeather"],
    }).optional(),
    parameters,
    approval: approval.optional(),
  }),
  z.strictObject({ type: field(z.literal("client"), type), name, description, parameters }),
  z.strictObject({
    type: field(z.literal("mcp"), type),
    name,
    description: description.optional(),
    transport: field(z.enum(["stdio", "http"]), {
      title: "Transport",
      description: "The transport of the server. By default http with a `url`, else stdio.",
      examples: ["stdio"],
    }).optional(),
    command: field(textField(), {
      title: "Command",
      description: "The program of a stdio server.",
      examples: ["npx"],
    }).optional(),
    args: field(z.array(z.string()), {
      title: "Arguments",
      description: "The arguments of the program. `${NAME}` is taken from the environment.",
      examples: [["-y", "@modelcontextprotocol/server-everything"]],
    }).optional(),
    env: field(z.union([z.array(envName()), z.record(envName(), z.string())]), {
      title: "Environment",
      description:
        "The variables the program gets besides PATH, HOME and the like: a list of names, or values by name with `${NAME}` for what is secret.",
      examples: [["GITHUB_TOKEN"]],
    }).optional(),
    url: field(textField(), {
      title: "URL",
      description: "The address of a server over streamable HTTP.",
      examples: ["http://127.0.0.1:3000/mcp"],
    }).optional(),
    headers: field(z.record(z.string(), z.string()), {
      title: "Headers",
      description: "Sent with every request. Secrets only as `${NAME}` of the environment.",
      examples: [{ Authorization: "Bearer ${MCP_TOKEN}" }],
    }).optional(),
    allow: field(z.array(textField()), {
      title: "Allowed tools",
      description: "Only these tools of the server are used. By default all.",
      examples: [["read_file"]],
    }).optional(),
    approval: field(z.union([z.boolean(), z.array(textField())]), {
      title: "Approval",
      description:
        "Whether a person has to allow every call first: of all its tools, or of those named.",
      examples: [true],
    }).optional(),
    timeout: field(z.number().positive().max(3600), {
      title: "Connection timeout",
      description: "How many seconds the server may take for its first response. By default 30.",
      examples: [30],
    }).optional(),
  }),
]);

import { z } from "zod";
import { envName, field, textField } from "./schema-field.ts";

export type MiddlewareName =
  | "logging"
  | "rate_limit"
  | "redact"
  | "run_timeout"
  | "throttle_deltas"
  | "tool_filter"
  | "telemetry"
  | "cors"
  | "bearer_auth";
export type MiddlewareConfig = MiddlewareName | Partial<Record<MiddlewareName, object>>;

const ms = (title: string, description: string): z.ZodNumber =>
  field(z.number().positive(), { title, description, examples: [1000] });
const flag = (title: string, description: string): z.ZodBoolean =>
  field(z.boolean(), { title, description, examples: [true] });
const list = (title: string, description: string): z.ZodArray<z.ZodString> =>
  field(z.array(textField()), { title, description });

// One entry per middleware that needs no code of the author's.
const shapes: Record<MiddlewareName, z.ZodType<object>> = {
  logging: field(
    z.strictObject({
      level: field(z.enum(["debug", "info", "warn", "error"]), {
        title: "Level",
        description: "Of the record of a run. By default info.",
        examples: ["info"],
      }).optional(),
      events: flag("Events", "One debug record per event, without its content.").optional(),
      debug: flag("Debug", "Adds headers, input and output, credentials redacted.").optional(),
    }),
    { title: "Logging", description: "One structured record per run.", examples: [{}] },
  ),
  rate_limit: field(
    z.strictObject({
      runs: field(z.int().min(1), {
        title: "Runs",
        description: "How many runs may start at once; as many are allowed again after `per_ms`.",
        examples: [20],
      }),
      per_ms: ms("Time", "Milliseconds. By default a minute.").optional(),
      by: field(z.enum(["principal", "address", "thread"]), {
        title: "Counted by",
        description: "Whose runs are counted together.",
        examples: ["address"],
      }).optional(),
      name: field(textField(), {
        title: "Name",
        description: "Distinguishes several limits in one store.",
      }).optional(),
    }),
    {
      title: "Rate limit",
      description: "Refuses runs beyond a rate with 429.",
      examples: [{ runs: 20 }],
    },
  ),
  redact: field(
    z.strictObject({
      patterns: list(
        "Patterns",
        "Regular expressions of what to remove. By default what looks like a credential.",
      ).optional(),
      replacement: field(z.string(), {
        title: "Replacement",
        description: "The replacement. By default [redacted].",
      }).optional(),
      window: field(z.int().min(0), {
        title: "Window",
        description: "Characters held back, so that a match in pieces is found. By default 64.",
      }).optional(),
    }),
    {
      title: "Redact",
      description: "Removes matches from everything a client receives.",
      examples: [{}],
    },
  ),
  run_timeout: field(
    z.strictObject({
      ms: ms("Time", "Milliseconds that a run may take.").optional(),
      idle_ms: ms("Idle time", "Milliseconds that a run may be silent.").optional(),
    }),
    {
      title: "Run timeout",
      description: "Ends runs that take too long.",
      examples: [{ ms: 60_000 }],
    },
  ),
  throttle_deltas: field(
    z.strictObject({
      ms: ms("Time", "Milliseconds between two deltas. By default 50.").optional(),
    }),
    {
      title: "Throttle deltas",
      description: "Sends text in fewer, larger pieces.",
      examples: [{}],
    },
  ),
  tool_filter: field(
    z.strictObject({
      allow: list("Allow", "Only these tools are shown. By default all.").optional(),
      deny: list("Deny", "These are hidden, also when they are allowed.").optional(),
      redact: list("Redact", "Shown without arguments and results.").optional(),
    }),
    {
      title: "Tool filter",
      description: "Hides tools and tool calls.",
      examples: [{ deny: ["delete_user"] }],
    },
  ),
  telemetry: field(
    z.strictObject({
      provider: field(textField(), {
        title: "Provider",
        description: "Who runs the model, in traces.",
      }).optional(),
      expose_trace_id: flag("Expose trace id", "Puts it into RUN_STARTED.").optional(),
    }),
    {
      title: "Telemetry",
      description: "Traces and counts runs with OpenTelemetry, if its API is installed.",
      examples: [{}],
    },
  ),
  cors: field(
    z.strictObject({
      origins: field(z.union([textField(), z.array(textField())]), {
        title: "Origins",
        description: "Who may read the responses: *, or origins.",
        examples: [["https://app.example.com"]],
      }),
      credentials: flag("Credentials", "Whether requests may carry cookies.").optional(),
      methods: list("Methods", "Methods a browser may use.").optional(),
      headers: list("Headers", "Request headers a browser may send.").optional(),
      expose_headers: list("Exposed headers", "Response headers that scripts may read.").optional(),
      max_age_seconds: field(z.number().min(0), {
        title: "Max age",
        description: "Seconds a browser remembers a preflight. By default 600.",
      }).optional(),
    }),
    {
      title: "CORS",
      description: "Allows requests from pages of other origins.",
      examples: [{ origins: ["https://app.example.com"] }],
    },
  ),
  bearer_auth: field(
    z.strictObject({
      token_env: field(envName(), {
        title: "Token variable",
        description: "The environment variable that holds the token clients must send.",
        examples: ["AGENT_TOKEN"],
      }),
      realm: field(textField(), {
        title: "Realm",
        description: "Named in 401 responses.",
      }).optional(),
    }),
    {
      title: "Bearer token",
      description: "Requires `Authorization: Bearer <token>` on all routes except health.",
      examples: [{ token_env: "AGENT_TOKEN" }],
    },
  ),
};

const middlewareNames: readonly MiddlewareName[] = Object.keys(shapes) as MiddlewareName[];

const optional = Object.fromEntries(
  Object.entries(shapes).map(([name, schema]) => [name, schema.optional()]),
);

/** One of `middleware` of an agent file: a name, or a name with options. */
export const middlewareSchema: z.ZodType<MiddlewareConfig> = z.union([
  z.enum(middlewareNames as [MiddlewareName, ...MiddlewareName[]]),
  z.strictObject(optional),
]);

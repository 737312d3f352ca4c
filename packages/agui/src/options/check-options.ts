import { defaultLimits } from "@holodeck/agui-core";
import {
  assertOptions,
  assertTools,
  describeValue,
  isRecord,
  unknownName,
} from "@holodeck/agui-core/internal";
import type { HealthOptions } from "../describe/health.ts";
import type { AgentHandlerOptions } from "./options.ts";

/** Throws when this is not what the option of that name takes. */
type Check = (value: unknown, name: string) => void;

const healthChecks: Record<keyof HealthOptions, Check> = {
  path: checkOptionalPath,
  readyPath: checkOptionalPath,
  agentPath: checkOptionalPath,
  checks: (value, name) => {
    if (!isRecord(value))
      throw wrong(name, "an object of functions, like { db: () => ping() }", value);
    for (const [key, check] of Object.entries(value)) {
      assertFunction(check, `${name}.${key} must be a function () => boolean`);
    }
  },
};

// Typed by the options, so that a new one cannot be forgotten here.
const checks: Record<keyof AgentHandlerOptions, Check> = {
  protocols: (value, name) => {
    assertList(value, name, "agui()");
    if (value.length === 0) throw new TypeError(`${name} is empty; nothing would be served.`);
    value.forEach((one, index) =>
      assertMethods(one, `${name}[${index}]`, { methods: ["routes"], example: "agui()" }),
    );
  },
  middleware: (value, name) => {
    assertList(value, name, "logging()");
    value.forEach((one, index) => checkMiddleware(one, `${name}[${index}]`));
  },
  sessions: (value, name) =>
    assertMethods(value, name, {
      methods: ["get", "create", "update"],
      example: "memorySessions()",
    }),
  basePath: (value, name) => {
    if (value === "" || (typeof value === "string" && /^\/[^?#]*$/.test(value))) return;
    throw new TypeError(`${name} must start with "/", like "/api", not ${describeValue(value)}.`);
  },
  defaultAgent: (value, name) => {
    if (typeof value !== "string") throw wrong(name, "the id of an agent", value);
  },
  authenticate: (value, name) =>
    assertFunction(value, `${name} must be a function (request) => ({ id }) or null`),
  onDisconnect: (value, name) => {
    if (value === "abort" || value === "continue") return;
    const graceMs = (value as { graceMs?: unknown } | null)?.graceMs;
    if (typeof graceMs === "number" && graceMs >= 0) return;
    throw wrong(name, '"abort", "continue" or { graceMs: number }', value);
  },
  onBusy: oneOf("reject", "queue", "replace"),
  onUnknownThread: oneOf("create", "reject"),
  history: oneOf("client", "server"),
  trustClientHistory: assertBoolean,
  createSession: (value, name) =>
    assertFunction(value, `${name} must be a function (id, principal) => ({ data, dispose })`),
  limits: (value, name) => {
    if (!isRecord(value)) throw wrong(name, "an object, like { bodyBytes: 1_000_000 }", value);
    const known = Object.keys(defaultLimits);
    for (const [limit, bound] of Object.entries(value)) {
      if (!known.includes(limit)) throw unknownName("a limit", `${name}.${limit}`, known);
      if (bound !== undefined) assertPositive(bound, `${name}.${limit}`);
    }
  },
  tools: (value, name) => assertTools(name, value),
  strict: assertBoolean,
  development: assertBoolean,
  exposeSessionState: (value, name) =>
    assertFunction(value, `${name} must be a function (session) => state`),
  files: (value, name) =>
    assertMethods(value, name, { methods: ["process"], example: "extractFiles()" }),
  heartbeatMs: assertPositive,
  logger: (value, name) => {
    const methods = ["debug", "info", "warn", "error"];
    assertMethods(value, name, { methods, example: "console" });
  },
  debug: assertBoolean,
  info: (value, name) => {
    if (!isRecord(value)) throw wrong(name, "an object, like { service: string }", value);
  },
  health: (value, name) => {
    if (value === false) return;
    assertOptions(`createAgentHandler({ ${name} })`, value, Object.keys(healthChecks));
    for (const [key, check] of Object.entries(healthChecks)) {
      const given = (value as Record<string, unknown>)[key];
      if (given !== undefined) check(given, `${name}.${key}`);
    }
  },
  openapi: (value, name) => {
    if (value === false) return;
    assertOptions(`createAgentHandler({ ${name} })`, value, ["path"]);
    const { path } = value as { path?: unknown };
    if (path !== undefined) assertPath(path, `${name}.path`);
  },
  problemTypeBase: (value, name) => {
    if (typeof value === "string" && URL.canParse(value)) return;
    throw wrong(
      name,
      'a URL that error codes are appended to, like "https://example.com/errors/"',
      value,
    );
  },
  clock: (value, name) => {
    const methods = ["now", "setTimeout", "clearTimeout"];
    assertMethods(value, name, { methods, example: "fakeClock()" });
  },
};

/**
 * Throws for an option that is unknown or has a wrong value; the message states what is expected.
 */
export function checkOptions(options: AgentHandlerOptions): void {
  assertOptions("createAgentHandler", options, Object.keys(checks));
  for (const [name, check] of Object.entries(checks)) {
    const value = options[name as keyof AgentHandlerOptions];
    if (value !== undefined) check(value, name);
  }
  const { sessions, limits } = options;
  if (sessions && limits?.maxSessions !== undefined && !sessions.count) {
    throw new TypeError(
      "limits.maxSessions needs a store with count(), which this one does not have.",
    );
  }
}

function oneOf(...allowed: readonly string[]): Check {
  return (value, name) => {
    if (allowed.includes(value as string)) return;
    throw wrong(name, `one of ${allowed.map((one) => `"${one}"`).join(", ")}`, value);
  };
}

function checkOptionalPath(value: unknown, name: string): void {
  if (value !== false) assertPath(value, name);
}

function assertPath(value: unknown, name: string): void {
  if (typeof value === "string" && /^\/[^?#]*$/.test(value)) return;
  throw wrong(name, 'a path that starts with "/", or false', value);
}

function checkMiddleware(value: unknown, name: string): void {
  if (typeof value === "function") return;
  const stages = ["authenticate", "request", "admit", "run"];
  const given = isRecord(value) ? stages.filter((stage) => value[stage] !== undefined) : [];
  if (given.length === 0) {
    throw wrong(name, "a function, or an object with authenticate, request, admit or run", value);
  }
  for (const stage of given) {
    assertFunction(
      (value as Record<string, unknown>)[stage],
      `${name}.${stage} must be a function`,
    );
  }
}

function assertList(
  value: unknown,
  name: string,
  example: string,
): asserts value is readonly unknown[] {
  if (!Array.isArray(value)) throw wrong(name, `an array, like [${example}]`, value);
}

function assertMethods(
  value: unknown,
  name: string,
  { methods, example }: { methods: readonly string[]; example: string },
): void {
  const isFit =
    ((typeof value === "object" && value !== null) || typeof value === "function") &&
    methods.every((method) => typeof Reflect.get(value, method) === "function");
  if (!isFit) throw wrong(name, `an object with ${methods.join(", ")}, like ${example}`, value);
}

function assertFunction(value: unknown, rule: string): void {
  if (typeof value !== "function") throw new TypeError(`${rule}, not ${describeValue(value)}.`);
}

function assertBoolean(value: unknown, name: string): void {
  if (typeof value !== "boolean") throw wrong(name, "true or false", value);
}

function assertPositive(value: unknown, name: string): void {
  if (typeof value === "number" && value > 0) return;
  throw wrong(name, "a number above 0", value);
}

function wrong(name: string, expected: string, value: unknown): TypeError {
  return new TypeError(`${name} must be ${expected}, not ${describeValue(value)}.`);
}

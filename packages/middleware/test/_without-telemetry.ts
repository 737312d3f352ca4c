import { register } from "node:module";
import { collect, runContext, runInput } from "@holodeck/agui-testing";
import { compose } from "@holodeck/agui-core";
import { telemetry } from "../src/index.ts";

// A machine on which nobody has installed the API.
const hooks = `export async function resolve(specifier, context, next) {
  if (specifier.startsWith("@opentelemetry/")) throw new Error("not installed: " + specifier);
  return next(specifier, context);
}`;
register(`data:text/javascript,${encodeURIComponent(hooks)}`);

const agent = compose(async () => "Hello", telemetry());
const first = await collect(agent(runInput(), runContext()));
const second = await collect(agent(runInput(), runContext()));
let isMissing = false;
await import("@opentelemetry/api").catch(() => (isMissing = true));
process.stdout.write(
  JSON.stringify({ isMissing, types: [first, second].map((run) => run.length) }),
);

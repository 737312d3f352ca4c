import { build } from "esbuild";
import { fileURLToPath } from "node:url";
import { createContext, runInContext } from "node:vm";
import type * as agui from "../src/index.ts";

// What a worker has, and no more. Node's own globals are left out on purpose.
const webGlobals = [
  "AbortController",
  "AbortSignal",
  "Blob",
  "ByteLengthQueuingStrategy",
  "CompressionStream",
  "CountQueuingStrategy",
  "DOMException",
  "Event",
  "EventTarget",
  "FormData",
  "Headers",
  "MessageChannel",
  "MessagePort",
  "ReadableStream",
  "Request",
  "Response",
  "TextDecoder",
  "TextDecoderStream",
  "TextEncoder",
  "TextEncoderStream",
  "TransformStream",
  "URL",
  "URLSearchParams",
  "WritableStream",
  "atob",
  "btoa",
  "clearInterval",
  "clearTimeout",
  "crypto",
  "fetch",
  "performance",
  "queueMicrotask",
  "setInterval",
  "setTimeout",
  "structuredClone",
] as const;

/**
 * The front door as a bundler makes it for a platform without Node, run where there is no Node. `others` are globals that
 * this platform has besides, or instead; undefined is one that it does not have.
 */
export async function loadOnTheEdge(others: Readonly<Record<string, unknown>> = {}): Promise<{
  library: typeof agui;
  warnings: string[];
  look(expression: string): unknown;
}> {
  const { outputFiles, warnings } = await build({
    entryPoints: [fileURLToPath(new URL("../src/index.ts", import.meta.url))],
    bundle: true,
    write: false,
    format: "iife",
    globalName: "agui",
    target: "es2022",
    platform: "browser",
    conditions: ["@holodeck/source", "worker", "import"],
    define: { "process.env.NODE_ENV": '"production"' },
    logLevel: "silent",
  });
  const globals: Record<string, unknown> = {};
  for (const name of webGlobals) globals[name] = globalThis[name];
  for (const [name, value] of Object.entries(others)) {
    if (value === undefined) delete globals[name];
    else globals[name] = value;
  }
  const context = createContext(globals);
  runInContext(
    `globalThis.self = globalThis;\n${outputFiles[0]!.text}\nglobalThis.agui = agui;`,
    context,
  );
  return {
    library: globals.agui as typeof agui,
    warnings: warnings.map(({ text }) => text),
    look: (expression) => runInContext(expression, context) as unknown,
  };
}

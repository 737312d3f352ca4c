import { register } from "node:module";
import { fileURLToPath } from "node:url";
import { MessageChannel } from "node:worker_threads";

/** Makes Node import the user's own ES modules again. */
export interface ModuleHook {
  /** What is imported from now on is read again. */
  renew(): void;
}

// Runs in a thread of Node's own. A module that has the mark hands it on to what it imports.
const source = `
let version, port;
export function initialize(data) {
  ({ version, port } = data);
}
export async function resolve(specifier, context, next) {
  const found = await next(specifier, context);
  const parent = context.parentURL ?? "";
  const isUsers = /\\/jiti\\/lib\\/jiti\\.mjs$|[?&]holodeck=\\d/.test(parent);
  if (!isUsers || !found.url.startsWith("file:") || found.url.includes("/node_modules/")) return found;
  const url = new URL(found.url);
  port.postMessage(url.href);
  url.searchParams.set("holodeck", String(Atomics.load(version, 0)));
  return { ...found, url: url.href };
}
`;

/**
 * For `--watch`: Node caches every ES module it has imported. `onFile` is called for each of the user's.
 */
export function createModuleHook(onFile: (file: string) => void): ModuleHook {
  const version = new Int32Array(new SharedArrayBuffer(4));
  const { port1, port2 } = new MessageChannel();
  port1.on("message", (url: string) => onFile(fileURLToPath(url.replace(/[?#].*$/, ""))));
  port1.unref();
  register(`data:text/javascript,${encodeURIComponent(source)}`, {
    data: { version, port: port2 },
    transferList: [port2],
  });
  return { renew: () => void Atomics.add(version, 0, 1) };
}

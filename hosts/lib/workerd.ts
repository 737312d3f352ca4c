import { writeFileSync } from "node:fs";
import { join } from "node:path";

export interface WorkerOptions {
  readonly folder: string;
  readonly name: string;
  readonly port: number;
  /** The module, with everything in it. */
  readonly main: string;
  readonly date: string;
  readonly flags: readonly string[];
  /** The class of its Durable Object, if it has one. */
  readonly actor?: string;
}

/** Writes a configuration of workerd for one worker and returns its path. */
export function writeConfig(options: WorkerOptions): string {
  const { folder, name, port, main, date, flags, actor } = options;
  const text = (value: string): string => JSON.stringify(value);
  const object = actor
    ? `
  durableObjectNamespaces = [(className = ${text(actor)}, uniqueKey = "hosts", enableSql = true)],
  durableObjectStorage = (inMemory = void),
  bindings = [(name = "OBJECT", durableObjectNamespace = ${text(actor)})],`
    : "";
  const config = `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = .worker)],
  sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "main")],
);
const worker :Workerd.Worker = (
  modules = [
    (name = "worker", esModule = embed ${text(main)}),
  ],${object}
  compatibilityDate = ${text(date)},
  compatibilityFlags = [${flags.map(text).join(", ")}],
);
`;
  const path = join(folder, `${name}.capnp`);
  writeFileSync(path, config);
  return path;
}

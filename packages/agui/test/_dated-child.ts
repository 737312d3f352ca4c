// A server whose date can be set, as a time server or a person sets that of a machine; timers go on as they do then.
import { createInterface } from "node:readline";
import type { RunAgentInput, RunContext, SessionStore } from "@holodeck/agui-core";
import { serve } from "@holodeck/agui-node";
import { memorySessions } from "@holodeck/agui-sessions";
import { postgresSessions } from "@holodeck/agui-sessions/postgres";
import { redisSessions } from "@holodeck/agui-sessions/redis";
import { sqliteSessions } from "@holodeck/agui-sessions/sqlite";
import { openPool } from "../../sessions/test/_postgres-pool.ts";
import { hostClients } from "../../sessions/test/_redis-connect.ts";
import { createAgentHandler } from "../src/index.ts";

interface Setup {
  readonly leaseMs?: number;
  readonly runLogMs?: number;
  readonly schema?: string;
  readonly handler?: object;
}

const [kind = "", place = "", json = "{}"] = process.argv.slice(2);
const setup = JSON.parse(json) as Setup;
const { leaseMs = 15_000, runLogMs = 300_000, schema = "", handler: options = {} } = setup;
const times = { leaseMs, runLogMs };

const RealDate = Date;
let shift = 0;
globalThis.Date = class extends RealDate {
  constructor(...args: [number]) {
    super(...(args.length > 0 ? args : ([RealDate.now() + shift] as [number])));
  }
  static override now(): number {
    return RealDate.now() + shift;
  }
} as DateConstructor;

const say = (line: string): void => void process.stdout.write(`${line}\n`);
const goers = new Map<string, () => void>();

async function* agent({ runId }: RunAgentInput, { signal }: RunContext): AsyncGenerator {
  yield "begun ";
  signal.addEventListener("abort", () => say(`aborted ${runId} ${signal.reason.code}`));
  const gone = new Promise((resolve) => signal.addEventListener("abort", resolve));
  await Promise.race([gone, new Promise<void>((resolve) => goers.set(runId, resolve))]);
  yield "ended";
}

async function open(): Promise<SessionStore> {
  if (kind === "memory") return memorySessions();
  if (kind === "SQLite") return sqliteSessions({ path: place, ...times });
  if (kind === "PostgreSQL") {
    return postgresSessions({ client: openPool(Number(place)), schema, ...times });
  }
  const client = await hostClients[kind as keyof typeof hostClients](Number(place));
  return redisSessions({ client, ...times, commandMs: 10_000 });
}

const silent = (): void => undefined;
const handler = createAgentHandler(agent as never, {
  sessions: await open(),
  history: "server",
  // Only a caller with a name may list threads.
  authenticate: () => ({ id: "ann" }),
  logger: {
    debug: silent,
    info: silent,
    warn: (fields: object, message?: string) =>
      say(`warn ${(fields as { threadId?: string }).threadId}: ${message}`),
    error: silent,
  },
  ...options,
});
const { port } = await serve(handler, { port: 0 });
createInterface({ input: process.stdin }).on("line", (line) => {
  const [verb = "", value = ""] = line.split(" ");
  if (verb === "go") goers.get(value)?.();
  if (verb === "set") {
    shift += Number(value);
    say(`set ${shift}`);
  }
});
say(`port ${port}`);

import { createAgentHandler } from "@holodeck/agui";
import { serve } from "@holodeck/agui-node";
import { migrate, postgresSessions } from "@holodeck/agui-sessions/postgres";
import { Pool } from "pg";
import { agent } from "./agent.ts";

export interface StartOptions {
  readonly connectionString: string;
  /** 0 takes any free one. */
  readonly port?: number;
}

/** Starts one of several processes on one database. */
export async function start({
  connectionString,
  port = 8000,
}: StartOptions): Promise<{ url: string; close(): Promise<void> }> {
  // The pool of the app: its own queries use it, too.
  const client = new Pool({ connectionString });
  await migrate({ client });
  const handler = createAgentHandler(agent, {
    sessions: postgresSessions({ client }),
    history: "server",
    // A client that was cut off finds its run at any process.
    onDisconnect: { graceMs: 30_000 },
  });
  const server = await serve(handler, { port, signals: false });
  return {
    url: server.url,
    async close() {
      await server.close();
      await client.end();
    },
  };
}

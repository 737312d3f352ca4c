import { parseArgs } from "node:util";
import { createAgentHandler } from "@holodeck/agui";
import { serve } from "@holodeck/agui-node";
import { demoAgent } from "./agent.ts";

const host = "127.0.0.1";
const { values } = parseArgs({ options: { port: { type: "string", short: "p" } } });
const wanted = readPort(values.port ?? process.env["PORT"] ?? "8000");

const handler = createAgentHandler({ demo: demoAgent }, { info: { service: "holodeck-demo" } });
const server = await listen(wanted);

const body = JSON.stringify({ messages: [{ role: "user", content: "hi" }] });
console.log(`
The demo agent is ready.

  AG-UI      ${server.url}/agui
  Discovery  ${server.url}/agui/info

Try it:

  curl -N -X POST ${server.url}/agui -H 'content-type: application/json' -d '${body}'

Ctrl-C stops it (process ${process.pid}).`);

for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => {
    server.close().then(
      () => process.exit(0),
      (error: unknown) => {
        console.error(error);
        process.exit(1);
      },
    );
  });
}

async function listen(from: number): Promise<Awaited<ReturnType<typeof serve>>> {
  for (let port = from; port < from + 100 && port <= 65_535; port += 1) {
    try {
      return await serve(handler, { port, host });
    } catch (error) {
      if (!isPortInUse(error)) throw error;
      console.log(`Port ${port} is in use, trying ${port + 1}.`);
    }
  }
  console.error(`No free port from ${from} on. Choose one with --port.`);
  process.exit(1);
}

function isPortInUse(error: unknown): boolean {
  const { code, cause } = error as { code?: string; cause?: { code?: string } };
  return code === "EADDRINUSE" || cause?.code === "EADDRINUSE";
}

function readPort(text: string): number {
  const port = Number(text);
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port;
  console.error(`"${text}" is not a port. Give a number from 0 to 65535, as in --port 8000.`);
  process.exit(1);
}

import { start } from "./server.ts";

const server = await start(Number(process.env["PORT"] ?? 8000));
console.log(`Files at ${server.url}/agent/reader/chat. Ctrl-C stops it.`);

for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => void server.close());
}

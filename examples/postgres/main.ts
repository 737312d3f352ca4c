import { start } from "./server.ts";

const connectionString = process.env["DATABASE_URL"] ?? "postgres://localhost/postgres";
const server = await start({ connectionString, port: Number(process.env["PORT"] ?? 8000) });
console.log(`AG-UI at ${server.url}/agui. Ctrl-C stops it.`);

for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => void server.close());
}

import { start } from "./server.ts";

const { url } = await start(Number(process.env["PORT"] ?? 8000));
console.log(`AG-UI at ${url}/agui. Ctrl-C stops it.`);

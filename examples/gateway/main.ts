import { startBackend } from "./backend.ts";
import { start } from "./server.ts";

const backend = process.env["BACKEND"] ?? (await startBackend()).url;
const { url } = await start(backend, Number(process.env["PORT"] ?? 8000));
console.log(`${backend} for useChat at ${url}/api/chat, AG-UI at ${url}/agui. Ctrl-C stops it.`);

import { start } from "./server.ts";

const { url, port } = await start(Number(process.env["PORT"] ?? 8000));
console.log(
  `AG-UI at ${url}/agui, lines at ${url}/ndjson, a WebSocket at ws://127.0.0.1:${port}/ws.`,
);
console.log("Ctrl-C stops it.");

// Express with the official encoder, as AG-UI's documentation shows a server.
import { createServer } from "node:http";
import { EventEncoder } from "@ag-ui/encoder";
import express from "express";
import { listen, runEvents } from "./_work.mjs";

export async function start() {
  const app = express();
  app.use(express.json({ limit: "14mb" }));
  app.post("/agui", (request, response, next) => void answer(request, response).catch(next));
  return listen(createServer(app));
}

async function answer(request, response) {
  const encoder = new EventEncoder({ accept: request.header("accept") });
  response.setHeader("content-type", "text/event-stream");
  response.setHeader("cache-control", "no-cache");
  for await (const event of runEvents(request.body)) response.write(encoder.encode(event));
  response.end();
}

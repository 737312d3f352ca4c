// Over Express.
import { createServer } from "node:http";
import { toExpressHandler } from "@holodeck/agui-express";
import express from "express";
import { createSubject } from "./_ours.mjs";
import { listen } from "./_work.mjs";

export async function start() {
  const app = express().use(toExpressHandler(await createSubject()));
  return listen(createServer(app));
}

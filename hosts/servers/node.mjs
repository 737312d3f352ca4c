import { createServer } from "node:http";
import { createApp, toNodeHandler } from "../app.node.mjs";

createServer(toNodeHandler(createApp("/api"))).listen(Number(process.env.PORT), "127.0.0.1");

import { readFileSync } from "node:fs";
import { createServer } from "node:https";
import { createApp, toNodeHandler } from "../app.node.mjs";

const tls = { cert: readFileSync(process.env.CERT), key: readFileSync(process.env.KEY) };

createServer(tls, toNodeHandler(createApp("/api"))).listen(Number(process.env.PORT), "127.0.0.1");

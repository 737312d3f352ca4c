import express from "express-4";
import { createApp, toExpressHandler } from "../app.node.mjs";

express().use("/api", toExpressHandler(createApp())).listen(Number(process.env.PORT), "127.0.0.1");

import Koa from "koa";
import { createApp, toNodeHandler } from "../app.node.mjs";

const handle = toNodeHandler(createApp("/api"));

new Koa()
  .use((context, next) => {
    if (!context.path.startsWith("/api/")) return next();
    context.respond = false;
    return handle(context.req, context.res);
  })
  .listen(Number(process.env.PORT), "127.0.0.1");

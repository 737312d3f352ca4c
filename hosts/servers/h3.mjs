import { H3, serve } from "h3";
import { createApp } from "../app.node.mjs";

const agents = createApp("/api");
const app = new H3().all("/api/**", (event) => agents.fetch(event.req));

serve(app, { port: Number(process.env.PORT), hostname: "127.0.0.1", silent: true });

import { createApp } from "../app.edge.mjs";

const app = createApp("/api");

export default { fetch: app.fetch };

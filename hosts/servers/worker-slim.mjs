import { createApp } from "../app.slim.mjs";

const app = createApp("/api");

export default { fetch: app.fetch };

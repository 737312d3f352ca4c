export { toFastifyPlugin } from "./to-fastify-plugin.ts";

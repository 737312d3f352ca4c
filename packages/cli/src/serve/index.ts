export { serveCommand } from "./serve.ts";

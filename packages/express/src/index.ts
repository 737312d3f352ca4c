export { toExpressHandler } from "./to-express-handler.ts";
export type { ExpressHandler, ExpressRequest } from "./to-express-handler.ts";

import { fromNodeMiddleware } from "h3";
import { createApp, toNodeHandler } from "../../app.node.mjs";

// Not `toWebRequest`: its response is not cancelled when a client leaves.
export default fromNodeMiddleware(toNodeHandler(createApp("/api")));

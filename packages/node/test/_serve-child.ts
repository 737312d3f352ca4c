import { serve } from "../src/index.ts";
import { handlerOf } from "./_handler.ts";

const handler = handlerOf(() => false);
if (process.argv[2] === "hanging") {
  setInterval(() => undefined, 60_000);
  handler.close = () => {
    process.stdout.write("closing\n");
    return new Promise(() => undefined);
  };
}
await serve(handler, { port: 0 });
process.stdout.write("serving\n");

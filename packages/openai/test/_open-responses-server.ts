// The server that `scripts/open-responses.mjs` runs the original suite against: prints its address.
import { createAgentHandler } from "@holodeck/agui";
import { silentLogger } from "@holodeck/agui-core";
import { serve } from "@holodeck/agui-node";
import { openai } from "../src/index.ts";
import { compliantAgent } from "./_open-responses.ts";

const handler = createAgentHandler(compliantAgent, {
  logger: silentLogger,
  protocols: [openai()],
});
const { url } = await serve(handler, { port: 0, logger: silentLogger });
process.stdout.write(`${url}/v1\n`);

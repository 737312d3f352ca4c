// Another process on a store that others use too: starts a background response and prints its id.
import { createAgentHandler } from "@holodeck/agui";
import { silentLogger } from "@holodeck/agui-core";
import { openChildStore } from "../../agui/test/_child-store.ts";
import { openai } from "../src/index.ts";

const [kind = "", at = "", leaseMs = ""] = process.argv.slice(2);
const handler = createAgentHandler(
  async function* () {
    yield "one ";
    // Goes on when its parent has read what there is so far.
    await new Promise((resolve) => process.stdin.once("data", resolve));
    yield "two ";
    yield "three";
  },
  {
    logger: silentLogger,
    sessions: await openChildStore(kind, at, { leaseMs: Number(leaseMs) }),
    protocols: [openai()],
  },
);
const response = await handler.fetch(
  new Request("http://test.local/v1/responses", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ input: "Hi", background: true }),
  }),
);
const { id } = (await response.json()) as { id: string };
process.stdout.write(`${id}\n`);

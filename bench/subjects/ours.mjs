// Over Node's binding.
import { createServer } from "node:http";
import { toNodeHandler } from "@holodeck/agui-node";
import { createSubject } from "./_ours.mjs";
import { listen } from "./_work.mjs";

export async function start() {
  return listen(createServer(toNodeHandler(await createSubject())));
}

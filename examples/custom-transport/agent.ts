import { setTimeout as sleep } from "node:timers/promises";
import type { AgentFunction } from "@holodeck/agui";

/** Counts slowly enough to be watched, or cut off and picked up again. */
export const counter: AgentFunction = async function* (input, { signal }) {
  for (let count = 1; count <= 10; count += 1) {
    yield `${count} `;
    await sleep(200, undefined, { signal });
  }
};

import { partKinds } from "./known.ts";
import type { PartRepairs } from "./parts.ts";
import type { Repairer } from "../repairs.ts";

/**
 * Ends every part that is open at the end of a run. `isFault`: the agent should have ended what it started.
 */
export function closeLeftOpen(parts: PartRepairs, repairer: Repairer, isFault: boolean): void {
  for (const kind of partKinds) {
    for (let part = parts.oldest; part; part = part.newer) {
      if (part.kind !== kind || part.known[kind] !== part) continue;
      if (isFault && !part.ours) repairer.repair("left-open");
      parts.close(kind, part.known.id);
    }
  }
}

import { effect, signal } from "@preact/signals";
import type { Signal } from "@preact/signals";
import type { RecordedExchange } from "../../model.ts";
import { countRepairs, fetchRepairs } from "./repairs.ts";
import type { Repairs } from "./repairs.ts";

// An agent may go on for a while after its run has ended; only then the server knows all of them.
const delaysMs = [0, 400, 1600];

const known = new WeakMap<RecordedExchange, Signal<Repairs>>();

/** The repairs of an exchange's run, asked for when it has ended. */
export function repairsOf(exchange: RecordedExchange): Signal<Repairs> {
  const before = known.get(exchange);
  if (before) return before;
  const repairs = signal<Repairs>({ kind: "waiting" });
  known.set(exchange, repairs);
  const stop = effect(() => {
    const runId = exchange.runId.value;
    if (runId === undefined || !hasEnded(exchange)) return;
    queueMicrotask(() => stop());
    void ask(runId).then((found) => (repairs.value = found));
  });
  return repairs;
}

async function ask(runId: string): Promise<Repairs> {
  let found: Repairs = { kind: "waiting" };
  for (const ms of delaysMs) {
    await new Promise((resolve) => setTimeout(resolve, ms));
    found = await fetchRepairs(runId, document.baseURI);
    if (found.kind !== "told" || countRepairs(found) > 0) break;
  }
  return found;
}

function hasEnded({ status }: RecordedExchange): boolean {
  return status.value !== "waiting" && status.value !== "streaming";
}

import { effect, signal } from "@preact/signals";
import type { Signal } from "@preact/signals";
import type { Exchange } from "../../model.ts";
import { fetchRepairs } from "./repairs.ts";
import type { Repairs } from "./repairs.ts";

const known = new WeakMap<Exchange, Signal<Repairs>>();

/** The repairs of an exchange's run, asked for once, when it has ended. */
export function repairsOf(exchange: Exchange): Signal<Repairs> {
  const before = known.get(exchange);
  if (before) return before;
  const repairs = signal<Repairs>({ kind: "waiting" });
  known.set(exchange, repairs);
  const stop = effect(() => {
    const runId = exchange.runId.value;
    if (runId === undefined || !hasEnded(exchange)) return;
    queueMicrotask(() => stop());
    void fetchRepairs(runId, document.baseURI).then((found) => (repairs.value = found));
  });
  return repairs;
}

function hasEnded({ status }: Exchange): boolean {
  return status.value !== "waiting" && status.value !== "streaming";
}

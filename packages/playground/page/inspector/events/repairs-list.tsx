import type { Signal } from "@preact/signals";
import type { JSX } from "preact";
import type { RepairKind } from "@holodeck/agui-core";
import type { RecordedExchange } from "../../model.ts";
import { formatCount } from "../shared/format.ts";
import { countRepairs, repairMeanings } from "./repairs.ts";
import type { StageRepairs } from "./repairs.ts";
import { repairsOf } from "./repairs-of.ts";

export interface RepairsListProps {
  readonly exchange: RecordedExchange;
  readonly isOpen: Signal<boolean>;
}

/** What the guard had to put right in a run. */
export function RepairsList({ exchange, isOpen }: RepairsListProps): JSX.Element | null {
  const repairs = repairsOf(exchange).value;
  if (repairs.kind === "waiting") return null;
  if (repairs.kind === "untold") {
    return (
      <p class="remark">
        Repairs of a run: only <code>holodeck serve</code> tells.
      </p>
    );
  }
  if (repairs.kind === "failed")
    return <p class="remark">Repairs are not available. {repairs.reason}</p>;
  const count = countRepairs(repairs);
  if (count === 0) return <p class="remark">Nothing had to be repaired.</p>;
  return (
    <details
      class="repairs"
      open={isOpen.value}
      onToggle={(event) => (isOpen.value = event.currentTarget.open)}
    >
      <summary>{formatCount(count, "repair")} by the guard</summary>
      {repairs.stages.map((stage) => (
        <Stage key={stage.stage} {...stage} />
      ))}
      <p class="remark">
        <code>strict: true</code> turns the first repair into an error.
      </p>
    </details>
  );
}

function Stage({ stage, repairs, first }: StageRepairs): JSX.Element {
  return (
    <section>
      <h3>
        In what the {stage} said{first !== undefined && <span> (first: {first})</span>}
      </h3>
      <ul>
        {Object.entries(repairs).map(([kind, count]) => (
          <li key={kind}>
            <code>{kind}</code> × {count}
            <span>
              {repairMeanings[kind as RepairKind] ?? "A kind that this page does not know."}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

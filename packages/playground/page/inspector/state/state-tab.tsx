import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import type { RecordedExchange } from "../../model.ts";
import type { Entry } from "../events/entries.ts";
import { CodeBlock } from "../shared/code-block.tsx";
import { CopyButton } from "../shared/copy-button.tsx";
import { toPrettyJson } from "../shared/json.ts";
import { ChangeList } from "./change-list.tsx";
import { createStateHistory } from "./history.ts";
import { StepBar } from "./step-bar.tsx";
import { TreeView } from "./tree-view.tsx";

export interface StateTabProps {
  readonly exchange: RecordedExchange;
  readonly entries: readonly Entry[];
}

/** The state of a run, and what each event changed in it. */
export function StateTab({ exchange, entries }: StateTabProps): JSX.Element {
  const read = useMemo(() => createStateHistory(exchange.input.state), [exchange]);
  const steps = useMemo(() => read(entries), [read, entries]);
  // How many changes are applied; undefined follows the newest.
  const picked = useSignal<number | undefined>(undefined);
  const isRaw = useSignal(false);
  const at = Math.min(picked.value ?? steps.length, steps.length);
  const step = at === 0 ? undefined : steps[at - 1];
  const value = step ? step.value : (exchange.input.state as unknown);

  return (
    <div class="state">
      <StepBar
        steps={steps}
        at={at}
        onPick={(next) => (picked.value = next === steps.length ? undefined : next)}
      />
      <ChangeList step={step} />
      <div class="bar">
        <label class="check">
          <input
            type="checkbox"
            checked={isRaw.value}
            onChange={(event) => (isRaw.value = event.currentTarget.checked)}
          />
          Raw JSON
        </label>
        <CopyButton what="state" text={() => toPrettyJson(value)} />
      </div>
      {isRaw.value ? (
        <CodeBlock label="State as JSON" code={toPrettyJson(value)} language="json" />
      ) : (
        <TreeView value={value} changes={step?.changes ?? []} step={at} />
      )}
    </div>
  );
}

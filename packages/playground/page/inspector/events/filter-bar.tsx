import type { JSX } from "preact";
import { FamilyMark } from "../shared/family-mark.tsx";
import { formatCount } from "../shared/format.ts";
import type { Entry } from "./entries.ts";
import { familyNames } from "./families.ts";
import type { Family } from "./families.ts";
import { countFamilies } from "./rows.ts";
import { hidden, isFolded, filterText } from "./view.ts";

export interface FilterBarProps {
  readonly entries: readonly Entry[];
  /** How many of them the filter lets through. */
  readonly shown: number;
}

/** What of the timeline is to be seen. */
export function FilterBar({ entries, shown }: FilterBarProps): JSX.Element {
  const toggle = (family: Family): void => {
    const next = new Set(hidden.value);
    if (!next.delete(family)) next.add(family);
    hidden.value = next;
  };
  const total = formatCount(entries.length, "event");
  return (
    <div class="filter">
      <div class="bar">
        <input
          type="search"
          aria-label="Filter events"
          placeholder="Filter, e.g. tool weather"
          value={filterText.value}
          onInput={(event) => (filterText.value = event.currentTarget.value)}
        />
        <label class="check">
          <input
            type="checkbox"
            checked={isFolded.value}
            onChange={(event) => (isFolded.value = event.currentTarget.checked)}
          />
          Fold deltas
        </label>
        <span class="count">{shown === entries.length ? total : `${shown} of ${total}`}</span>
      </div>
      <div class="family-chips" role="group" aria-label="Kinds of events">
        {countFamilies(entries).map(([family, count]) => (
          <button
            key={family}
            type="button"
            class="family-chip"
            aria-pressed={!hidden.value.has(family)}
            onClick={() => toggle(family)}
          >
            <FamilyMark family={family} />
            {familyNames[family]} <span class="count">{count}</span>
          </button>
        ))}
      </div>
    </div>
  );
}

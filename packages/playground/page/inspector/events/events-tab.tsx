import type { JSX } from "preact";
import { useMemo, useRef } from "preact/hooks";
import type { RecordedExchange } from "../../model.ts";
import { moveBy } from "../shared/list-keys.ts";
import { VirtualList } from "../shared/virtual-list.tsx";
import type { Entry } from "./entries.ts";
import { EventDetail } from "./event-detail.tsx";
import { EventRow } from "./event-row.tsx";
import { FilterBar } from "./filter-bar.tsx";
import { RepairsList } from "./repairs-list.tsx";
import { filterEntries, toRows } from "./rows.ts";
import { hidden, isFolded, filterText } from "./view.ts";
import type { EventsView } from "./view.ts";

export interface EventsTabProps {
  readonly exchange: RecordedExchange;
  readonly entries: readonly Entry[];
  readonly view: EventsView;
}

/** The events of an exchange as they come. */
export function EventsTab({ exchange, entries, view }: EventsTabProps): JSX.Element {
  const { active, isOpen, following, isRepairsOpen } = view;
  const frame = useRef<HTMLDivElement>(null);
  const found = useMemo(
    () => filterEntries(entries, { text: filterText.value, hidden: hidden.value }),
    [entries, filterText.value, hidden.value],
  );
  const rows = useMemo(() => toRows(found, { isFolded: isFolded.value }), [found, isFolded.value]);
  // Of rows the first event is kept in mind: a row that grows or is unfolded keeps its place.
  const place = rows.findLastIndex(({ first }) => first.index <= (active.value ?? -1));
  const at = place < 0 ? undefined : place;

  const select = (index: number): void => {
    active.value = rows[index]?.first.index;
    // A reader of one event does not want it to scroll away.
    following.value = false;
  };
  const open = (index: number): void => {
    select(index);
    isOpen.value = true;
  };
  const close = (): void => {
    isOpen.value = false;
    frame.current!.querySelector<HTMLElement>("[role=listbox]")!.focus();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === "Escape" && isOpen.value) isOpen.value = false;
    else if ((event.key === "Enter" || event.key === " ") && at !== undefined) isOpen.value = true;
    else {
      const next = moveBy(event.key, at, rows.length);
      if (next === undefined) return;
      select(next);
      if (event.key === "End") following.value = true;
    }
    event.preventDefault();
    event.stopPropagation();
  };
  const row = (index: number): JSX.Element => (
    <EventRow
      key={rows[index]!.first.index}
      row={rows[index]!}
      position={index + 1}
      count={rows.length}
      isActive={index === at}
      onOpen={() => open(index)}
    />
  );

  return (
    <div class="events">
      <RepairsList exchange={exchange} isOpen={isRepairsOpen} />
      <FilterBar entries={entries} shown={found.length} />
      <div ref={frame} class="list-frame">
        <VirtualList
          label="Events"
          role="listbox"
          count={rows.length}
          row={row}
          active={at}
          activeId={at === undefined ? undefined : `event-${rows[at]!.first.index}`}
          following={following}
          onKeyDown={onKeyDown}
        />
        {rows.length === 0 && (
          <p class="blank">{entries.length === 0 ? "No event yet." : "No event matches."}</p>
        )}
        {!following.value && rows.length > 0 && (
          <button type="button" class="button to-end" onClick={() => (following.value = true)}>
            ↓ Latest
          </button>
        )}
      </div>
      {isOpen.value && at !== undefined && <EventDetail row={rows[at]!} onClose={close} />}
    </div>
  );
}

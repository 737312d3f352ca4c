import type { JSX } from "preact";
import { FamilyMark } from "../shared/family-mark.tsx";
import { formatMs } from "../shared/format.ts";
import { familyNames, familyOf } from "./families.ts";
import type { Row } from "./rows.ts";
import { summariseRow } from "./summary.ts";

export interface EventRowProps {
  readonly row: Row;
  readonly position: number;
  readonly count: number;
  readonly isActive: boolean;
  readonly onOpen: () => void;
}

/** One line of the timeline. */
export function EventRow({ row, position, count, isActive, onOpen }: EventRowProps): JSX.Element {
  const { first, entries } = row;
  const { type } = first.event;
  const family = familyOf(type);
  return (
    <div
      class={`row event family-${family}`}
      role="option"
      id={`event-${first.index}`}
      aria-selected={isActive}
      aria-posinset={position}
      aria-setsize={count}
      onClick={onOpen}
    >
      <span class="time" title="Since the request was sent">
        {formatMs(first.at)}
      </span>
      <span class="gap" title="Since the event before">
        +{formatMs(first.gap)}
      </span>
      <FamilyMark family={family} />
      <span class="type" title={familyNames[family]}>
        {entries.length > 1 && `${entries.length} × `}
        {type}
      </span>
      <span class="summary">{summariseRow(row)}</span>
    </div>
  );
}

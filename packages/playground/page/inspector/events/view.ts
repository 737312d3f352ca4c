import { signal } from "@preact/signals";
import type { Signal } from "@preact/signals";
import type { Family } from "./families.ts";

/** The filters of events, for this exchange and the next ones. */
export const filterText: Signal<string> = signal("");
export const hidden: Signal<ReadonlySet<Family>> = signal(new Set());
export const isFolded: Signal<boolean> = signal(true);

/** The position in the timeline of one exchange; kept while another tab is shown. */
export interface EventsView {
  /** The event that the keyboard is on, by its index. */
  readonly active: Signal<number | undefined>;
  /** Its JSON is shown. */
  readonly isOpen: Signal<boolean>;
  readonly isRepairsOpen: Signal<boolean>;
  readonly following: Signal<boolean>;
}

/** The view of an exchange that was not opened before. */
export function createEventsView(): EventsView {
  return {
    active: signal(undefined),
    isOpen: signal(false),
    isRepairsOpen: signal(false),
    following: signal(true),
  };
}

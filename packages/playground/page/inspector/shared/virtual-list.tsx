import type { Signal } from "@preact/signals";
import type { ComponentChildren, JSX } from "preact";
import { useCallback, useLayoutEffect, useRef, useState } from "preact/hooks";
import { endOf, followWish } from "../../ui/reader-wish.ts";

/** Pixels; must match the class `row` in inspector.css. */
const rowHeight = 28;
// Rows beyond the edges, so that a fast scroll does not show an empty list.
const spare = 8;

export interface VirtualListProps {
  readonly label: string;
  readonly role: "listbox" | "tree" | "region";
  readonly count: number;
  readonly row: (index: number) => ComponentChildren;
  /** The row that the keyboard is on; it is scrolled into view when it changes. */
  readonly active?: number | undefined;
  readonly activeId?: string | undefined;
  /** True: the end stays in view while rows are added. Scrolling up and to the end changes it. */
  readonly following?: Signal<boolean>;
  readonly onKeyDown?: (event: KeyboardEvent) => void;
  /** Called with the width, at first and whenever it changes. */
  readonly onWidth?: (width: number) => void;
}

/** A list of any length of which only the rows that can be seen are in the page. */
export function VirtualList(props: VirtualListProps): JSX.Element {
  const { label, role, count, active, following, onWidth } = props;
  const box = useRef<HTMLDivElement>(null);
  const last = useRef({ top: 0, end: 0 });
  const [view, setView] = useState({ top: 0, height: 0 });

  const look = useCallback(() => {
    // The event of a list that the page has left already.
    if (!box.current) return;
    const { scrollTop: top, clientHeight: height } = box.current;
    last.current = { top, end: endOf(box.current) };
    setView((before) =>
      before.top === top && before.height === height ? before : { top, height },
    );
  }, []);

  /** Finds out whether a reader has moved the list: a browser moves it a frame before its scroll event. */
  const notice = useCallback(() => {
    const wish = following && box.current && wishIn(box.current, last.current);
    if (typeof wish === "boolean") following!.value = wish;
    look();
  }, [following, look]);

  const goToEnd = useCallback(() => {
    if (following?.peek() && box.current) box.current.scrollTop = box.current.scrollHeight;
    look();
  }, [following, look]);

  const stay = useCallback(() => {
    notice();
    goToEnd();
  }, [notice, goToEnd]);

  useLayoutEffect(() => {
    const observer = new ResizeObserver(() => {
      stay();
      if (box.current) onWidth?.(box.current.clientWidth);
    });
    observer.observe(box.current!);
    return () => observer.disconnect();
  }, [stay, onWidth]);

  // Before the reader's scrolling is evaluated: a reader who asks for the end may have scrolled up
  // just now.
  useLayoutEffect(goToEnd, [following?.value, goToEnd]);
  useLayoutEffect(stay, [count, stay]);

  useLayoutEffect(() => {
    if (active === undefined) return;
    reveal(box.current!, active);
    look();
  }, [active, look]);

  const first = Math.max(0, Math.floor(view.top / rowHeight) - spare);
  const end = Math.min(count, Math.ceil((view.top + view.height) / rowHeight) + spare);
  const indexes = Array.from({ length: Math.max(0, end - first) }, (_, at) => first + at);
  const isActiveShown = active !== undefined && active >= first && active < end;
  return (
    <div
      ref={box}
      class="list"
      role={role}
      aria-label={label}
      aria-activedescendant={isActiveShown ? props.activeId : undefined}
      tabIndex={0}
      onScroll={notice}
      onKeyDown={props.onKeyDown}
    >
      <div role="presentation" style={{ height: `${first * rowHeight}px` }} />
      {indexes.map(props.row)}
      <div role="presentation" style={{ height: `${Math.max(0, count - end) * rowHeight}px` }} />
    </div>
  );
}

/** The end that a reader moves to is the one they saw: rows may have been added since. */
function wishIn(box: HTMLElement, last: { top: number; end: number }): boolean | undefined {
  const { scrollTop: top } = box;
  const end = endOf(box);
  const near = Math.min(end, last.end) - rowHeight / 2;
  return followWish({ lastTop: last.top, top, end, near });
}

function reveal(box: HTMLElement, index: number): void {
  const top = index * rowHeight;
  if (top < box.scrollTop) box.scrollTop = top;
  else if (top + rowHeight > box.scrollTop + box.clientHeight) {
    box.scrollTop = top + rowHeight - box.clientHeight;
  }
}

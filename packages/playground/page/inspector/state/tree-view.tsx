import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { moveBy } from "../shared/list-keys.ts";
import { VirtualList } from "../shared/virtual-list.tsx";
import { parentPointer } from "./changes.ts";
import type { Change } from "./changes.ts";
import { TreeLine } from "./tree-line.tsx";
import { toTreeRows } from "./tree.ts";

export interface TreeViewProps {
  readonly value: unknown;
  readonly changes: readonly Change[];
  /** Which change is shown; what it changed flashes when this is another. */
  readonly step: number;
}

/** A JSON value as a tree that is opened and closed. */
export function TreeView({ value, changes, step }: TreeViewProps): JSX.Element {
  const toggled = useSignal<ReadonlyMap<string, boolean>>(new Map());
  const active = useSignal<string | undefined>(undefined);
  const rows = useMemo(
    () => toTreeRows(value, { changes, toggled: toggled.value }),
    [value, changes, toggled.value],
  );
  const found = rows.findIndex(({ pointer }) => pointer === active.value);
  const at = found < 0 ? undefined : found;

  const set = (pointer: string, isOpen: boolean): void => {
    toggled.value = new Map(toggled.value).set(pointer, isOpen);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const row = at === undefined ? undefined : rows[at];
    const next = moveBy(event.key, at, rows.length);
    if (next !== undefined) active.value = rows[next]!.pointer;
    else if (!row) return;
    else if ((event.key === "Enter" || event.key === " ") && row.isOpen !== undefined) {
      set(row.pointer, !row.isOpen);
    } else if (event.key === "ArrowRight" && row.isOpen === false) set(row.pointer, true);
    else if (event.key === "ArrowRight" && row.isOpen) active.value = rows[at! + 1]!.pointer;
    else if (event.key === "ArrowLeft" && row.isOpen) set(row.pointer, false);
    else if (event.key === "ArrowLeft") active.value = parentPointer(row.pointer);
    else return;
    event.preventDefault();
  };
  const line = (index: number): JSX.Element => {
    const row = rows[index]!;
    return (
      <TreeLine
        // A new element restarts the flash.
        key={row.change ? `${step}:${row.pointer}` : row.pointer}
        id={`state-${index}`}
        row={row}
        isActive={index === at}
        onPick={() => {
          active.value = row.pointer;
          if (row.isOpen !== undefined) set(row.pointer, !row.isOpen);
        }}
      />
    );
  };
  return (
    <div class="list-frame">
      <VirtualList
        label="State"
        role="tree"
        count={rows.length}
        row={line}
        active={at}
        activeId={at === undefined ? undefined : `state-${at}`}
        onKeyDown={onKeyDown}
      />
    </div>
  );
}

import type { JSX } from "preact";
import type { TreeRow } from "./tree.ts";

export interface TreeLineProps {
  readonly id: string;
  readonly row: TreeRow;
  readonly isActive: boolean;
  readonly onPick: () => void;
}

const signs = { added: "+", changed: "~" } as const;

/** One line of a tree. */
export function TreeLine({ id, row, isActive, onPick }: TreeLineProps): JSX.Element {
  const { key, depth, isOpen, change, changesInside } = row;
  return (
    <div
      class={`row tree-line ${change ? `is-${change}` : ""}`}
      role="treeitem"
      id={id}
      aria-level={depth + 1}
      aria-posinset={row.position}
      aria-setsize={row.siblings}
      aria-expanded={isOpen}
      aria-selected={isActive}
      onClick={onPick}
    >
      <span class="sign">
        {change && (
          <>
            <span aria-hidden="true">{signs[change]}</span>
            <span class="unseen">{change} </span>
          </>
        )}
      </span>
      <span style={{ width: `${depth * 14}px` }} />
      <span class="twist" aria-hidden="true">
        {isOpen === undefined ? "" : isOpen ? "▾" : "▸"}
      </span>
      <span class="key">{depth === 0 ? "state" : key}:</span>
      <span class={`value is-${row.kind}`}>{row.text}</span>
      {isOpen === false && changesInside > 0 && (
        <span class="inside">{changesInside} changed inside</span>
      )}
    </div>
  );
}

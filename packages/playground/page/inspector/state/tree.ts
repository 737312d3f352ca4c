import { childPointer, parentPointer } from "./changes.ts";
import type { Change } from "./changes.ts";

/** One line of a tree. */
export interface TreeRow {
  readonly pointer: string;
  /** The name or number it has in what holds it; empty at the root. */
  readonly key: string;
  readonly depth: number;
  /** Its place among its siblings, from 1, and how many these are. */
  readonly position: number;
  readonly siblings: number;
  /** Undefined for what has nothing inside. */
  readonly isOpen?: boolean;
  /** The value in short. */
  readonly text: string;
  readonly kind: "object" | "array" | "string" | "number" | "boolean" | "null";
  readonly change?: "added" | "changed";
  /** How many places inside changed, or were removed from it. */
  readonly changesInside: number;
}

export interface TreeOptions {
  readonly changes: readonly Change[];
  /** What the user opened and closed, by pointer. By default two levels and what changed are open. */
  readonly toggled: ReadonlyMap<string, boolean>;
}

const openLevels = 2;
// A list of thousands of members stays closed until the user opens it.
const maxOpenMembers = 50;
const maxText = 300;

/** The lines of a JSON value that are to be seen. */
export function toTreeRows(value: unknown, { changes, toggled }: TreeOptions): TreeRow[] {
  const rows: TreeRow[] = [];
  const marks = new Map<string, "added" | "changed">();
  const inside = new Map<string, number>();
  for (const { kind, pointer } of changes) {
    if (kind !== "removed") marks.set(pointer, kind);
    for (let at = pointer; at !== "";) {
      at = parentPointer(at);
      inside.set(at, (inside.get(at) ?? 0) + 1);
    }
  }
  const visit = (node: Node): void => {
    const { value, pointer, depth } = node;
    const members = membersOf(value);
    const changesInside = inside.get(pointer) ?? 0;
    const isOpenAtFirst =
      changesInside > 0 || (depth < openLevels && (members?.length ?? 0) <= maxOpenMembers);
    const isOpen = members?.length ? (toggled.get(pointer) ?? isOpenAtFirst) : undefined;
    const change = marks.get(pointer);
    rows.push({
      pointer,
      key: node.key,
      depth,
      position: node.position,
      siblings: node.siblings,
      text: describe(value),
      kind: kindOf(value),
      changesInside,
      ...(isOpen !== undefined && { isOpen }),
      ...(change && { change }),
    });
    if (!isOpen || !members) return;
    for (const [index, [key, member]] of members.entries()) {
      visit({
        value: member,
        pointer: childPointer(pointer, key),
        key,
        depth: depth + 1,
        position: index + 1,
        siblings: members.length,
      });
    }
  };
  visit({ value, pointer: "", key: "", depth: 0, position: 1, siblings: 1 });
  return rows;
}

interface Node {
  readonly value: unknown;
  readonly pointer: string;
  readonly key: string;
  readonly depth: number;
  readonly position: number;
  readonly siblings: number;
}

function membersOf(value: unknown): [string, unknown][] | undefined {
  return typeof value === "object" && value !== null ? Object.entries(value) : undefined;
}

function kindOf(value: unknown): TreeRow["kind"] {
  if (Array.isArray(value)) return "array";
  if (value === null || value === undefined) return "null";
  const kind = typeof value;
  return kind === "string" || kind === "number" || kind === "boolean" ? kind : "object";
}

function describe(value: unknown): string {
  if (Array.isArray(value)) return `[${value.length}]`;
  if (typeof value === "object" && value !== null) return `{${Object.keys(value).length}}`;
  if (value === undefined) return "none";
  const text = JSON.stringify(value);
  return text.length > maxText ? `${text.slice(0, maxText)}…` : text;
}

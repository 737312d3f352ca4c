/** How deep a path may lead, and how deep a value may end up. */
export const maxDepth = 64;

export type Container = unknown[] | Record<string, unknown>;
export type PointerPath = readonly string[];

/** Why an operation does not apply; `PatchError` adds which one. */
export class Refusal extends Error {}

/** What a pointer leads to, in a document that has it. */
export function readPointer(document: unknown, pointer: string): unknown {
  return readPath(document, parsePointer(pointer, "path"));
}

/** What a path leads to. Refuses one that does not exist. */
export function readPath(document: unknown, path: PointerPath): unknown {
  let node = document;
  for (const key of path) {
    const container = asContainer(node);
    node = (container as Record<string, unknown>)[existing(container, key)];
  }
  return node;
}

/** A node that may have members. */
export function asContainer(node: unknown): Container {
  if (typeof node !== "object" || node === null) throw new Refusal("The path does not exist.");
  return node as Container;
}

/** The key of a member that exists. */
export function existing(container: Container, key: string): string {
  if (Array.isArray(container)) toIndex(key, container.length - 1);
  else if (!Object.hasOwn(container, key)) throw new Refusal("The path does not exist.");
  return key;
}

/** An index of an array, up to the highest. */
export function toIndex(key: string, highest: number): number {
  if (!/^(?:0|[1-9]\d*)$/.test(key)) throw new Refusal(`"${key}" is not an array index.`);
  const index = Number(key);
  if (index > highest) throw new Refusal(`The index ${key} is beyond the end.`);
  return index;
}

// One operation is looked at several times: by its author's run, its guard and its view.
let lastPointer = "";
let lastPath: PointerPath = [];

/** The keys of a JSON pointer. */
export function parsePointer(pointer: unknown, member: string): PointerPath {
  if (pointer === "") return [];
  if (pointer === lastPointer) return lastPath;
  if (typeof pointer !== "string" || !pointer.startsWith("/")) throw notPointer(member);
  const isEscaped = pointer.includes("~");
  if (isEscaped && /~(?![01])/.test(pointer)) throw notPointer(member);
  const keys = pointer.slice(1).split("/", maxDepth + 1);
  if (keys.length > maxDepth) throw new Refusal(`"${member}" has more than ${maxDepth} segments.`);
  for (let i = 0; i < keys.length; i++) {
    const key = isEscaped ? keys[i]!.replaceAll("~1", "/").replaceAll("~0", "~") : keys[i]!;
    if (key === "__proto__" || (key === "prototype" && keys[i - 1] === "constructor")) {
      throw new Refusal("The path points to a prototype.");
    }
    keys[i] = key;
  }
  lastPointer = pointer;
  lastPath = keys;
  return keys;
}

function notPointer(member: string): Refusal {
  return new Refusal(`"${member}" is not a JSON pointer.`);
}

import { isRecord } from "@holodeck/agui-core/internal";
import type { Json } from "@holodeck/agui-core";

export interface Components {
  readonly schemas: Readonly<Record<string, Json>>;
  /** The operation with its schemas fit for a document: named ones and `$defs` become components. */
  adopt(operation: Json): Json;
  /** The id, or one like it that is not taken: no two operations may share one. */
  uniqueId(operationId: string): string;
}

/**
 * Collects the schemas of a document. A schema from zod is self-contained; here they are combined.
 */
export function createComponents(first: Readonly<Record<string, Json>>): Components {
  const schemas: Record<string, Json> = { ...first };
  const ids = new Set<string>();
  const seen = new Map<string, string>();

  // A self-contained schema refers to itself with `#` and to its parts with `#/$defs/…`.
  function adoptSchema(root: Json, fallback: string): Json {
    const { $schema: _dialect, $defs = {}, ...schema } = root;
    const defs = Object.entries($defs as Record<string, Json>);
    const title = typeof root.title === "string" && /^[A-Z]\w*$/.test(root.title);
    const isOwn = title || defs.length > 0 || pointsToItself(schema);
    if (!isOwn) return schema;
    const base = title ? (root.title as string) : fallback;
    const name = freeName(base, root);
    const rename = (ref: string): string => {
      if (ref === "#") return `#/components/schemas/${name}`;
      return ref.replace(/^#\/\$defs\//, `#/components/schemas/${name}.`);
    };
    for (const [key, def] of defs) schemas[`${name}.${key}`] = renameRefs(def, rename) as Json;
    schemas[name] = renameRefs(schema, rename) as Json;
    return { $ref: `#/components/schemas/${name}` };
  }

  // The same schema at two places is one component.
  function freeName(wanted: string, root: Json): string {
    const text = JSON.stringify(root);
    const known = seen.get(`${wanted} ${text}`);
    if (known !== undefined) return known;
    let name = wanted;
    for (let count = 2; Object.hasOwn(schemas, name); count++) name = `${wanted}${count}`;
    seen.set(`${wanted} ${text}`, name);
    return name;
  }

  function walk(value: unknown, id: string): unknown {
    if (Array.isArray(value)) return value.map((one) => walk(one, id));
    if (!isRecord(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, inner]) =>
        schemaKeys.has(key) && isRecord(inner)
          ? [key, adoptSchema(inner, id)]
          : [key, walk(inner, id)],
      ),
    );
  }

  return {
    schemas,
    adopt: (operation) => walk(operation, `${String(operation.operationId)}Body`) as Json,
    uniqueId(operationId) {
      let id = operationId;
      for (let count = 2; ids.has(id); count++) id = `${operationId}${count}`;
      ids.add(id);
      return id;
    },
  };
}

/** The keys of schemas in an operation. `x-event-schema` is the schema of one event of a stream. */
const schemaKeys = new Set(["schema", "x-event-schema"]);

function pointsToItself(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(pointsToItself);
  if (!isRecord(value)) return false;
  return Object.entries(value).some(
    ([key, inner]) => (key === "$ref" && inner === "#") || pointsToItself(inner),
  );
}

function renameRefs(value: unknown, rename: (ref: string) => string): unknown {
  if (Array.isArray(value)) return value.map((one) => renameRefs(one, rename));
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) =>
      key === "$ref" && typeof inner === "string"
        ? [key, rename(inner)]
        : [key, renameRefs(inner, rename)],
    ),
  );
}

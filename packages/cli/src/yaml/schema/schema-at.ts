import type { z } from "zod";

/** As much of a zod schema's definition as is walked here. */
interface Def {
  readonly type: string;
  readonly shape?: Record<string, z.ZodType>;
  readonly innerType?: z.ZodType;
  readonly element?: z.ZodType;
  readonly valueType?: z.ZodType;
  readonly options?: readonly z.ZodType[];
  readonly discriminator?: string;
  readonly values?: readonly unknown[];
}

/** The schema that a value at this path is held to, given the data that chooses between variants. */
export function schemaAt(
  schema: z.ZodType,
  path: readonly PropertyKey[],
  data: unknown,
): z.ZodType | undefined {
  const here = variantOf(schema, data);
  const [key, ...rest] = path;
  if (key === undefined || !here) return here;
  const { shape, element, valueType } = defOf(here);
  const next = element ?? valueType ?? ownOf(shape, String(key));
  return next && schemaAt(next, rest, ownOf(data as Record<PropertyKey, unknown>, key));
}

/** The keys that an object at this path may have. */
export function knownKeys(schema: z.ZodType | undefined): readonly string[] {
  return schema ? Object.keys(defOf(schema).shape ?? {}) : [];
}

/** The first example in the notes of a schema. */
export function exampleOf(schema: z.ZodType | undefined): unknown {
  const { examples } = (schema?.meta() ?? {}) as { examples?: readonly unknown[] };
  return examples?.[0];
}

// Without wrappers, and of several variants the one that the data means.
function variantOf(schema: z.ZodType, data: unknown): z.ZodType | undefined {
  const { type, innerType, options, discriminator } = defOf(schema);
  if (innerType && type !== "union") return variantOf(innerType, data);
  if (!options) return schema;
  if (discriminator !== undefined) {
    const chosen = ownOf(data as Record<string, unknown>, discriminator);
    return options.find((option) => {
      const literal = ownOf(defOf(option).shape, discriminator);
      return literal && defOf(literal).values?.includes(chosen);
    });
  }
  const objects = options.filter((option) => defOf(option).type === "object");
  if (typeof data !== "object" || data === null || Array.isArray(data) || objects.length === 0) {
    return schema;
  }
  return objects.find((option) => knownKeys(option).some((key) => key in data)) ?? objects[0];
}

function defOf(schema: z.ZodType): Def {
  return schema._zod.def;
}

function ownOf<T>(holder: Record<PropertyKey, T> | undefined, key: PropertyKey): T | undefined {
  const isHolder = typeof holder === "object" && holder !== null;
  return isHolder && Object.hasOwn(holder, key) ? holder[key] : undefined;
}

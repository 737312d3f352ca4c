import type { z } from "zod";

/**
 * Parses a part of a file without its unknown keys, and without those of `droppable` that are wrong:
 * after a reported fault, others are still looked for. Undefined when more than that is wrong.
 */
export function parseMost<T>(
  schema: z.ZodType<T>,
  value: unknown,
  droppable: readonly string[],
): T | undefined {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  if (typeof value !== "object" || value === null) return undefined;
  const wrong = parsed.error.issues.flatMap((issue): PropertyKey[] => {
    if (issue.code === "unrecognized_keys" && issue.path.length === 0) return issue.keys;
    return issue.path.slice(0, 1).filter((key) => droppable.includes(String(key)));
  });
  const rest = Object.entries(value).filter(([key]) => !wrong.includes(key));
  return schema.safeParse(Object.fromEntries(rest)).data;
}

import type { Emit } from "@holodeck/agui-core";

export type Usage = Parameters<Emit["usage"]>[0];

/** Token counts without what the model did not count; undefined when it counted nothing. */
export function toUsage(counts: Record<string, unknown>, model: unknown): Usage | undefined {
  const entries = Object.entries(counts).filter(
    ([, count]) => typeof count === "number" && Number.isFinite(count),
  );
  if (entries.length === 0) return undefined;
  const label = typeof model === "string" && model !== "" ? { model } : {};
  return { ...label, ...Object.fromEntries(entries) };
}

import type { Logger } from "@holodeck/agui-core";

/** A logger that keeps its records. */
export function memoryLogger(): Logger & { readonly records: Record<string, unknown>[] } {
  const records: Record<string, unknown>[] = [];
  const note =
    (level: string) =>
    (fields: object, message?: string): void =>
      void records.push({ level, message, ...fields });
  return {
    records,
    debug: note("debug"),
    info: note("info"),
    warn: note("warn"),
    error: note("error"),
  };
}

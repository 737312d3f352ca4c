import type { CheckId } from "./report/catalogue.ts";

/** An event as it came: of a known type, its fields not yet trusted. */
export interface WireEvent {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** One event of a stream with the line it came in. */
export interface ReadEvent {
  readonly event: WireEvent;
  readonly line: string;
}

/** Reports within one stream: what held, what broke, and in which line. */
export interface CheckReport {
  show(id: CheckId, note?: string): void;
  break(id: CheckId, seen: string): void;
}

/** Any field as text. */
export function toShownText(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "");
}

import { sizeOf, tooMuch } from "../json/size.ts";
import { sizeOfDelta } from "./bare-delta.ts";

/** What `sizeOf` returns for an event, sooner for a delta, which most events are. Never throws. */
export function sizeOfEvent(event: unknown): number {
  try {
    if (typeof event !== "object" || event === null) return sizeOf(event);
    return sizeOfDelta(event) ?? sizeOf(event);
  } catch {
    // A getter or a proxy of the author's.
    return tooMuch;
  }
}

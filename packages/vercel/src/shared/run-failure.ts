import type { BaseEvent } from "@holodeck/agui-core";

/** A failed run, as its author or this server described it. */
export interface StreamFailure {
  readonly message: string;
  readonly code?: string;
}

/** The default text that a client receives for a failure. */
export const maskedFailure = "An error occurred.";

/** The failure in an event. */
export function failureIn({ message, code }: BaseEvent): StreamFailure {
  const text = typeof message === "string" ? message : "";
  return typeof code === "string" ? { message: text, code } : { message: text };
}

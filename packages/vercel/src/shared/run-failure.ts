import type { BaseEvent } from "@holodeck/agui-core";

/** A failed run, as its author or this server described it. */
export interface StreamFailure {
  readonly message: string;
  readonly code?: string;
}

/** What a client is told of a failure unless somebody decides otherwise. */
export const maskedFailure = "An error occurred.";

/** What an event says of its failure. */
export function failureIn({ message, code }: BaseEvent): StreamFailure {
  const text = typeof message === "string" ? message : "";
  return typeof code === "string" ? { message: text, code } : { message: text };
}

/** The message of an error, ended by a full stop. Of several errors, the first one. */
export function reasonOf(error: unknown): string {
  const first: unknown = error instanceof AggregateError ? error.errors[0] : error;
  const text = (first instanceof Error && first.message) || String(first);
  const message = text.trim();
  return /[.!?]$/.test(message) ? message : `${message}.`;
}

/** What an error says, ended by a full stop. Of several at once the first says enough. */
export function reasonOf(error: unknown): string {
  const first: unknown = error instanceof AggregateError ? error.errors[0] : error;
  const text = (first instanceof Error && first.message) || String(first);
  const message = text.trim();
  return /[.!?]$/.test(message) ? message : `${message}.`;
}

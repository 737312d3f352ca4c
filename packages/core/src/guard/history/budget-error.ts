/** Why something cannot be sent. */
export class BudgetError extends Error {
  override readonly name = "BudgetError";
  readonly code: "event-too-large" | "history-too-large" | "session-too-large";

  constructor(code: BudgetError["code"], message: string) {
    super(message);
    this.code = code;
  }
}

export function tooMany(limit: number): BudgetError {
  return new BudgetError(
    "history-too-large",
    `The conversation has too many messages to be sent back: limits.messages is ${limit}.`,
  );
}

export function tooLarge(limit: number): BudgetError {
  return new BudgetError(
    "history-too-large",
    `The conversation is too large to be sent back: limits.bodyBytes is ${limit}.`,
  );
}

export function tooDeep(type: string, limit: number): BudgetError {
  return new BudgetError(
    "event-too-large",
    `One ${type} event is nested too deep to be sent back: limits.jsonDepth is ${limit}.`,
  );
}

export function stateTooLarge(limit: number): BudgetError {
  return new BudgetError("session-too-large", stateTooLargeText(limit));
}

/** The message for a state that patches would make too large. */
export function stateTooLargeText(limit: number): string {
  return `The state would be larger than limits.sessionBytes: ${limit} bytes.`;
}

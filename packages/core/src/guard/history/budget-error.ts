/** Why something cannot be sent. */
export class BudgetError extends Error {
  override readonly name = "BudgetError";
  readonly code: "event-too-large" | "history-too-large";

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

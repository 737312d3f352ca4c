import type { Interrupt } from "@ag-ui/core";

type Asked = Pick<Interrupt, "message" | "responseSchema" | "metadata">;

/**
 * Thrown by a tool that needs an answer of the user before it can finish. The run ends with the question, and
 * the tool is called again when the next run has the answer in `session.answers`; when the user declines, it is
 * not. A call can ask once.
 */
export class ToolQuestion extends Error {
  override readonly name = "ToolQuestion";
  readonly asked: Asked;

  constructor(asked: Asked) {
    super(asked.message);
    this.asked = asked;
  }
}

/** What a tool asks, also one with another copy of this package; undefined for any other error. */
export function questionOf(cause: unknown): Asked | undefined {
  const isQuestion = cause instanceof Error && cause.name === "ToolQuestion" && "asked" in cause;
  return isQuestion ? (cause as ToolQuestion).asked : undefined;
}

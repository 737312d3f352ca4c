import type { AskedQuestion } from "./answer-reader.ts";

/** A call of a function, as clients of either API make it. */
export interface FunctionCall {
  readonly id: string;
  readonly name: string;
  readonly args: string;
}

/**
 * A question as a call that the client answers like any other: `approve` takes yes or no, `respond` any other
 * answer. Its id is that of the question.
 */
export function toQuestionCall(question: AskedQuestion): FunctionCall {
  const { id, message, reason, isApproval, call, responseSchema } = question;
  const about = isApproval
    ? { message, tool: call?.name, arguments: call && parse(call.args) }
    : { message, reason, responseSchema };
  return { id, name: isApproval ? "approve" : "respond", args: JSON.stringify(about) };
}

function parse(args: string): unknown {
  try {
    return JSON.parse(args || "{}") as unknown;
  } catch {
    return args;
  }
}

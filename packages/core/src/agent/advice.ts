/**
 * Advice for the author of an agent that showed nothing: it returned nothing, or an object that looks like
 * a message and becomes the result of the run. Returns undefined when there is no advice.
 */
export function adviceOn(result: unknown, hasEmitted: boolean): string | undefined {
  if (result === undefined || result === null) {
    if (hasEmitted) return undefined;
    return (
      "The agent returned nothing and emitted nothing, so its answer is empty. " +
      'Write `return "text"`, `yield "text"` or `await emit.text("text")`.'
    );
  }
  const field = messageField(result);
  if (field === undefined) return undefined;
  return (
    `The agent returned an object with "${field}", which is the result of the run and not shown as text. ` +
    `Write \`return answer.${field}\` to show it, or \`yield\` it.`
  );
}

function messageField(result: unknown): string | undefined {
  if (typeof result !== "object" || result === null || Array.isArray(result)) return undefined;
  try {
    const { text, content } = result as { text?: unknown; content?: unknown };
    if (typeof text === "string") return "text";
    return typeof content === "string" || Array.isArray(content) ? "content" : undefined;
  } catch {
    // A getter that throws does not make a message.
    return undefined;
  }
}

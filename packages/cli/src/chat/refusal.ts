/** The server refused a request; the message has the details it gave. */
export class RefusedError extends Error {
  override readonly name = "RefusedError";
}

/** The message of a refusal: problem details, a message in JSON, or the text itself. */
export async function readRefusal(response: Response): Promise<RefusedError> {
  const { status, statusText } = response;
  const text = (await response.text()).slice(0, 10_000);
  const lines = [`${status} ${statusText}`.trim(), ...describe(text)];
  return new RefusedError(lines.join("\n"));
}

function describe(text: string): string[] {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    // Not JSON: a page or a sentence.
    return text.trim() === "" ? [] : [text.trim().slice(0, 500)];
  }
  const fields = (body ?? {}) as Record<string, unknown>;
  const reason = fields["detail"] ?? fields["message"] ?? fields["error"] ?? body;
  const { errors, code, requestId } = fields;
  return [
    toLine(reason),
    ...(Array.isArray(errors) ? errors.map((one: unknown) => `- ${toLine(fault(one))}`) : []),
    ...(code === undefined ? [] : [`code ${toLine(code)}`]),
    ...(requestId === undefined ? [] : [`request ${toLine(requestId)}`]),
  ];
}

function fault(one: unknown): unknown {
  return (one as { message?: unknown } | null)?.message ?? one;
}

function toLine(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** The message of a refusal: that of problem details, or else the status. */
export async function problemText(response: Response): Promise<string> {
  const fallback = `The server answered ${response.status}${response.statusText ? ` ${response.statusText}` : ""}.`;
  const type = response.headers.get("content-type") ?? "";
  const text = await response.text().catch(() => "");
  if (!type.includes("json")) return fallback;
  try {
    return readProblem(JSON.parse(text)) ?? fallback;
  } catch {
    // Declared as JSON but not valid: the status is used.
    return fallback;
  }
}

function readProblem(problem: unknown): string | undefined {
  if (typeof problem !== "object" || problem === null) return undefined;
  const { detail, title, errors } = problem as Record<string, unknown>;
  const reason = [detail, title].find((one) => typeof one === "string" && one !== "");
  if (typeof reason !== "string") return undefined;
  const faults = Array.isArray(errors) ? errors.flatMap(faultText) : [];
  const news = faults.filter((fault) => !reason.includes(fault)).slice(0, 3);
  return [reason, ...news].join(" ");
}

function faultText(fault: unknown): string[] {
  const { path, message } = (fault ?? {}) as Record<string, unknown>;
  if (typeof message !== "string") return [];
  return [typeof path === "string" && !message.includes(path) ? `${path}: ${message}` : message];
}

/** Why a run failed and where, one line each; undefined where the server does not show it. */
export async function fetchCause(runId: string, base: string): Promise<string | undefined> {
  try {
    const url = new URL(`_holodeck/runs/${encodeURIComponent(runId)}/failure`, base);
    const response = await fetch(url, { headers: { accept: "application/json" } });
    if (!response.ok) return undefined;
    const { failure } = (await response.json()) as { failure?: unknown };
    const { message, frames } = (failure ?? {}) as { message?: unknown; frames?: unknown };
    if (typeof message !== "string" || !Array.isArray(frames)) return undefined;
    return [message, ...frames.map((frame) => `  ${String(frame)}`)].join("\n");
  } catch {
    // The server is not reachable; that is shown elsewhere.
    return undefined;
  }
}

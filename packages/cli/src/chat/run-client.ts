import type { BaseEvent, RunAgentInput } from "@ag-ui/core";
import { DroppedError } from "./dropped-error.ts";
import { receiveEvents } from "./receive-events.ts";
import { readRefusal } from "./refusal.ts";

export interface ChatTarget {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
}

export interface RunClientOptions {
  readonly signal: AbortSignal;
  /** Called when the connection was lost and the run is resumed. */
  readonly onDrop: () => void;
}

const attempts = 4;
const pauseMs = 250;

/**
 * Asks for a run and yields its events as they come. A server that numbers its events and has
 * `GET …/runs/:runId/events` is asked for the rest after a dropped connection.
 */
export async function* requestRun(
  target: ChatTarget,
  input: RunAgentInput,
  { signal, onDrop }: RunClientOptions,
): AsyncGenerator<BaseEvent, void, undefined> {
  let lastId: string | undefined;
  let response = await fetch(target.url, {
    method: "POST",
    headers: { ...target.headers, "content-type": "application/json", accept: "text/event-stream" },
    body: JSON.stringify(input),
    signal,
  });
  if (!response.ok) throw await readRefusal(response);
  for (;;) {
    for await (const { event, id } of receiveEvents(response, signal)) {
      lastId = id ?? lastId;
      yield event;
      if (event.type === "RUN_FINISHED" || event.type === "RUN_ERROR") return;
    }
    signal.throwIfAborted();
    if (lastId === undefined) throw new DroppedError("The connection ended before the run did.");
    onDrop();
    response = await attach(target, { runId: input.runId, lastId }, signal);
  }
}

/** Asks the server to stop a run; a server without that route sees the closed connection. */
export async function requestStop(target: ChatTarget, runId: string): Promise<void> {
  try {
    const headers = { ...target.headers };
    await fetch(runUrl(target.url, runId, "stop"), { method: "POST", headers });
  } catch {
    // The connection of the run is closed in any case, which is all that other servers know.
  }
}

async function attach(
  target: ChatTarget,
  { runId, lastId }: { runId: string; lastId: string },
  signal: AbortSignal,
): Promise<Response> {
  const headers = { ...target.headers, accept: "text/event-stream", "last-event-id": lastId };
  for (let attempt = 1; ; attempt++) {
    try {
      const response = await fetch(runUrl(target.url, runId, "events"), { headers, signal });
      if (response.ok) return response;
      throw new DroppedError(`The connection was lost. ${(await readRefusal(response)).message}`);
    } catch (error) {
      if (signal.aborted || error instanceof DroppedError) throw error;
      if (attempt === attempts) {
        throw new DroppedError("The connection was lost, and the server is not reachable.", {
          cause: error,
        });
      }
      await new Promise((resolve) => setTimeout(resolve, pauseMs * attempt));
    }
  }
}

function runUrl(url: URL, runId: string, what: "events" | "stop"): URL {
  const own = new URL(url);
  own.pathname = `${url.pathname.replace(/\/$/, "")}/runs/${encodeURIComponent(runId)}/${what}`;
  return own;
}

import { once } from "node:events";
import { request } from "node:http";
import type { IncomingMessage } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import type { BaseEvent } from "@holodeck/agui-core";
import { readSse } from "@holodeck/agui-testing";
import { pieceLength } from "./_fleet-agent.ts";

/** What one client saw of one run, over all its connections. */
export interface Seen {
  readonly runId: string;
  readonly threadId: string;
  /** The process that ran it. */
  owner: number | undefined;
  text: string;
  events: number;
  attaches: number;
  terminals: BaseEvent[];
  /** Events that never came, and that came twice, by their offsets. */
  missing: number;
  doubled: number;
  /** Each place where one was missing or doubled. */
  faults: string[];
}

export interface Asked {
  readonly status: number;
  readonly response: IncomingMessage;
}

/** A new connection for every request, so that the proxy decides every time. */
export async function ask(port: number, path: string, body?: object): Promise<Asked> {
  const headers = body ? { "content-type": "application/json" } : {};
  const method = body ? "POST" : "GET";
  const sent = request({ port, host: "127.0.0.1", path, method, headers, agent: false });
  sent.end(body && JSON.stringify(body));
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  // A cut is told by the reading, or by nobody who waits.
  response.on("error", () => undefined);
  return { status: response.statusCode!, response };
}

/** Asks until the answer is one of these; a server that is away is asked again. */
export async function insist(
  work: () => Promise<Asked>,
  wanted: readonly number[],
): Promise<Asked> {
  for (let attempt = 0; ; attempt++) {
    try {
      const asked = await work();
      if (wanted.includes(asked.status)) return asked;
      const problem = await text(asked.response);
      if (attempt > 60) throw new Error(`${asked.status}: ${problem}`);
      if (asked.status < 500 && asked.status !== 409) {
        throw new Refused(`${asked.status}: ${problem}`);
      }
    } catch (error) {
      if (error instanceof Refused || attempt > 60) throw error;
    }
    await pause(Math.min(500, 20 * 2 ** attempt));
  }
}

class Refused extends Error {}

export async function text(response: IncomingMessage): Promise<string> {
  let all = "";
  for await (const chunk of response) all += String(chunk);
  return all;
}

export interface FollowOptions {
  readonly runId: string;
  /** Leaves of itself after so many frames of one connection, and comes back. */
  readonly patience?: number;
  /** Members of the request that make it one of another client. */
  readonly input?: Readonly<Record<string, unknown>>;
  readonly onEvent?: (seen: Seen) => void;
}

/** Starts a run and reads it to its end, coming back after every cut. */
export async function follow(
  port: number,
  threadId: string,
  options: FollowOptions,
): Promise<Seen> {
  let attempt = 0;
  let runId = "";
  const { input = { protocolVersion: "1.0" } } = options;
  const first = await insist(() => {
    // Nobody knows whether a run was accepted whose answer never came; the next is another.
    runId = `${options.runId}.${attempt++}`;
    return ask(port, "/agui", { threadId, runId, messages: [], ...input });
  }, [200]);
  const seen: Seen = {
    runId,
    threadId,
    owner: undefined,
    text: "",
    events: 0,
    attaches: 0,
    terminals: [],
    missing: 0,
    doubled: 0,
    faults: [],
  };
  let last = 0;
  let { response } = first;
  for (;;) {
    let patience = options.patience ?? Number.POSITIVE_INFINITY;
    try {
      for await (const { id, data } of readSse(response)) {
        last = take(seen, last, { id, event: JSON.parse(data) as BaseEvent });
        options.onEvent?.(seen);
        if (--patience === 0 && seen.terminals.length === 0) break;
      }
    } catch {
      // Cut. What was read before stands.
    }
    if (seen.terminals.length > 0) return seen;
    seen.attaches++;
    const offset = last;
    const path = `/agui/runs/${runId}/events?offset=${offset}`;
    ({ response } = await insist(() => ask(port, path), [200]));
  }
}

function take(
  seen: Seen,
  last: number,
  { id, event }: { id: string | undefined; event: BaseEvent },
): number {
  const isEnd = event.type === "RUN_FINISHED" || event.type === "RUN_ERROR";
  if (isEnd) seen.terminals.push(event);
  // The end of a run that could not be stored has none.
  if (isEnd && id === undefined) return last;
  const delta = event.type === "TEXT_MESSAGE_CONTENT" ? String(event.delta) : undefined;
  // Joined deltas cover as many offsets as they have pieces.
  const covers = delta === undefined ? 1 : delta.length / pieceLength;
  const skipped = Number(id) - covers - last;
  if (skipped !== 0) {
    seen.missing += Math.max(0, skipped);
    seen.doubled += Math.max(0, -skipped);
    seen.faults.push(`${event.type} ${id} covers ${covers} after ${last}`);
  }
  seen.events += covers;
  seen.text += delta ?? "";
  if (event.type === "CUSTOM") seen.owner = Number(event.value);
  return Number(id);
}

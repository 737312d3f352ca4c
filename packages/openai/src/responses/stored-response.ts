import { AgentError } from "@holodeck/agui-core";
import { jsonBytes } from "@holodeck/agui-core/internal";
import type { Call, Json, ProtocolHost, RunRecord } from "@holodeck/agui-core";
import { ResponseBuilder } from "./response-builder.ts";
import { placeOfItem, responseNotFound, runOfResponse } from "./response-ids.ts";
import type { FindItem } from "./read-items.ts";

/** A response of the caller, and its run. */
export interface StoredResponse {
  readonly record: RunRecord;
  readonly builder: ResponseBuilder;
}

export function callerOf({ principal }: Call): string {
  return principal?.id ?? "";
}

/** A response as far as its log goes, in any process of the store. Those of other principals are not found. */
export async function loadResponse(
  call: Call,
  id: string,
  host: ProtocolHost,
): Promise<StoredResponse> {
  const found = await loadRun(call, runOfResponse(id), host);
  // A run of another protocol is no response.
  if (found?.builder.note?.id !== id) throw responseNotFound(id);
  return found;
}

async function loadRun(
  call: Call,
  runId: string,
  host: ProtocolHost,
): Promise<StoredResponse | undefined> {
  const record = await host.sessions.runs.find(callerOf(call), runId);
  if (!record) return undefined;
  const builder = new ResponseBuilder();
  const { runs } = host.sessions;
  let after = 0;
  for (;;) {
    const entries = await runs.read(record, after);
    for (const { event, at } of entries) builder.read(event, at);
    const last = entries.at(-1)?.to ?? after;
    if (last <= after) break;
    after = last;
  }
  return { record, builder };
}

/**
 * Finds items of earlier outputs by their ids, for `item_reference`. Each response is read once. What they have together
 * is bounded as if the request had brought it: a reference takes a few bytes, and may stand for megabytes.
 */
export function createItemFinder(call: Call, host: ProtocolHost): FindItem {
  const outputs = new Map<string, Promise<readonly Json[]>>();
  const { bodyBytes } = host.limits;
  const used = new Set<Json>();
  let room = bodyBytes;
  function take(value: unknown): void {
    room -= jsonBytes(value);
    if (room >= 0) return;
    const message = `The items that the input refers to are larger than ${bodyBytes} bytes.`;
    throw new AgentError("payload-too-large", message);
  }
  return async (id, path) => {
    const place = placeOfItem(id);
    if (!place) throw responseNotFound(id, path);
    const { runId, index } = place;
    let output = outputs.get(runId);
    if (!output) {
      output = loadRun(call, runId, host).then((found) => found?.builder.output ?? []);
      outputs.set(runId, output);
      // All of it is in memory until the last item was read.
      take(await output);
    }
    const item = (await output)[index];
    if (item?.id !== id) throw responseNotFound(id, path);
    if (used.has(item)) take(item);
    used.add(item);
    return item;
  };
}

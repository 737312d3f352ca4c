import { verifyEvents } from "@ag-ui/client";
import { EventSchemas } from "@ag-ui/core/schemas";
import { decode } from "@ag-ui/proto";
import type { BaseEvent } from "@holodeck/agui-core";
import { readSse } from "@holodeck/agui-testing";
import { EventSchemas as EventSchemas0, verifyEvents as verifyEvents0 } from "ag-ui-client-0";
import { from } from "rxjs";

/** What came over a wire, parsed from its bytes. */
export interface Received {
  readonly events: readonly BaseEvent[];
  /** SSE ids; nothing where the wire has none. */
  readonly ids: readonly string[] | undefined;
}

/** One way for a client to talk to the server, and its official judges. */
export interface Wire {
  readonly name: string;
  readonly isLegacy: boolean;
  readonly contentType: string;
  /** Members of the request that make it this client's. */
  readonly input: Readonly<Record<string, unknown>>;
  read(response: Response): Promise<Received>;
  /** Everything the verifier and the schemas of that client have against a stream. */
  faults(events: readonly BaseEvent[]): string[];
}

export const sse: Wire = {
  name: "1.0 over SSE",
  isLegacy: false,
  contentType: "text/event-stream",
  input: { protocolVersion: "1.0" },
  read: readSseEvents,
  faults: faultsOf1,
};

/** No official client of 1.1 exists yet; the schemas of 1.0 accept what is new. */
export const current: Wire = {
  ...sse,
  name: "1.1 over SSE",
  input: { protocolVersion: "1.1" },
};

export const proto: Wire = {
  name: "1.0 over protobuf",
  isLegacy: false,
  contentType: "application/vnd.ag-ui.event+proto",
  input: { protocolVersion: "1.0" },
  read: async (response) => ({
    events: decodeFrames(new Uint8Array(await response.arrayBuffer())),
    ids: undefined,
  }),
  faults: faultsOf1,
};

export const legacy: Wire = {
  name: "0.0.59 over SSE",
  isLegacy: true,
  contentType: "text/event-stream",
  input: {},
  read: readSseEvents,
  faults: faultsOf0,
};

export const wires: readonly Wire[] = [sse, proto, legacy];

/** The POST of a client of that wire. */
export function ask(wire: Wire, url: string, body: Readonly<Record<string, unknown>>): Request {
  return new Request(url, {
    method: "POST",
    headers: { "content-type": "application/json", accept: wire.contentType },
    body: JSON.stringify({ ...wire.input, ...body }),
  });
}

/** The events in frames of a big-endian length and so many bytes. */
function decodeFrames(bytes: Uint8Array): BaseEvent[] {
  const events: BaseEvent[] = [];
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  for (let at = 0; at < bytes.length;) {
    const length = view.getUint32(at, false);
    events.push(decode(bytes.subarray(at + 4, at + 4 + length)));
    at += 4 + length;
  }
  return events;
}

export function isTerminal({ type }: BaseEvent): boolean {
  return type === "RUN_FINISHED" || type === "RUN_ERROR";
}

async function readSseEvents(response: Response): Promise<Received> {
  const events: BaseEvent[] = [];
  const ids: string[] = [];
  for await (const { id, data } of readSse(response)) {
    events.push(JSON.parse(data) as BaseEvent);
    ids.push(id ?? "none");
  }
  return { events, ids };
}

// Each client comes with an rxjs and a zod of its own; only the types mind.
interface Judge {
  readonly verify: () => (source: any) => {
    subscribe(observer: { error(reason: unknown): void }): unknown;
  };
  readonly schema: {
    safeParse(value: unknown): { success: boolean; error?: { message: string } | undefined };
  };
}

function faultsOf1(events: readonly BaseEvent[]): string[] {
  return judge(events, { verify: verifyEvents, schema: EventSchemas });
}

function faultsOf0(events: readonly BaseEvent[]): string[] {
  return judge(events, { verify: verifyEvents0, schema: EventSchemas0 });
}

function judge(events: readonly BaseEvent[], { verify, schema }: Judge): string[] {
  const found: string[] = [];
  verify()(from(events)).subscribe({ error: (reason) => found.push(String(reason)) });
  for (const event of events) {
    const parsed = schema.safeParse(event);
    if (!parsed.success) found.push(`${JSON.stringify(event)}: ${parsed.error?.message}`);
  }
  return found;
}

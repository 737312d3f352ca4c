import type { RunAgentInput } from "@ag-ui/core";
import type { SentRequest } from "../model.ts";
import { decodeProto, decodeSse } from "./decode-agui.ts";
import type { Sent } from "./exchange.ts";
import { send } from "./exchange.ts";
import type { SendOptions } from "./types.ts";

const sse = "text/event-stream";
const proto = "application/vnd.ag-ui.event+proto";

/** Runs an agent over AG-UI's server-sent events. */
export function sendAguiSse(input: RunAgentInput, options: SendOptions): Sent {
  const request = toRequest(input, options, sse);
  return send({
    wire: "agui-sse",
    input,
    request,
    decode: decodeSse,
    runId: input.runId,
    ...options,
  });
}

/** Runs an agent over AG-UI's protobuf binding. */
export function sendAguiProto(input: RunAgentInput, options: SendOptions): Sent {
  const request = toRequest(input, options, proto);
  return send({
    wire: "agui-proto",
    input,
    request,
    decode: decodeProto,
    runId: input.runId,
    ...options,
  });
}

function toRequest(
  input: RunAgentInput,
  { base, agentId }: SendOptions,
  accept: string,
): SentRequest {
  return {
    method: "POST",
    url: new URL("agui", base).href,
    headers: { "content-type": "application/json", accept },
    body: JSON.stringify({ ...input, agentId }),
  };
}

export interface AttachOptions extends SendOptions {
  /** The run to come back to. */
  readonly runId: string;
  /** The last offset that was seen. Without one the stream begins with snapshots. */
  readonly offset?: string | undefined;
  readonly isBinary?: boolean;
}

/**
 * Follows a run that was started before. The response continues after an offset, or is
 * self-contained without one.
 */
export function attachRun(input: RunAgentInput, options: AttachOptions): Sent {
  const { base, runId, offset, isBinary = false } = options;
  const request: SentRequest = {
    method: "GET",
    url: new URL(`agui/runs/${encodeURIComponent(runId)}/events`, base).href,
    headers: {
      accept: isBinary ? proto : sse,
      ...(offset !== undefined && { "last-event-id": offset }),
    },
  };
  return send({
    wire: isBinary ? "agui-proto" : "agui-sse",
    input,
    request,
    decode: isBinary ? decodeProto : decodeSse,
    ...options,
  });
}

/** Opens a thread: what is past as snapshots, and what is running live. */
export function connectThread(input: RunAgentInput, options: SendOptions): Sent {
  const { base, agentId } = options;
  const { threadId, protocolVersion } = input;
  const request: SentRequest = {
    method: "POST",
    url: new URL(`agui/agent/${encodeURIComponent(agentId)}/connect`, base).href,
    headers: { "content-type": "application/json", accept: sse },
    body: JSON.stringify({ threadId, runId: input.runId, protocolVersion }),
  };
  return send({ wire: "agui-sse", input, request, decode: decodeSse, ...options });
}

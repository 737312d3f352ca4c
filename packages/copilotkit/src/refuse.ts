import { EventType, toProblem } from "@holodeck/agui-core";
import type { AgentError, Call, Reply } from "@holodeck/agui-core";
import { aguiSseEncoder } from "@holodeck/agui-protocol";
import { isRunMethod, readMethod } from "./envelope.ts";

/**
 * How a run is refused. What a right request can meet (a busy thread, a limit, a failure) is one
 * RUN_ERROR: the client shows that once, and any other status twice, with the raw body. What is wrong
 * with the request itself keeps its status.
 */
export function refuseRun(error: AgentError, call: Call): Reply {
  if (error.status < 500 && ![409, 410, 429].includes(error.status)) return refuse(error, call);
  const { contentType, headers, encode } = aguiSseEncoder();
  const { code, message } = error;
  const event = { type: EventType.RUN_ERROR, message, code };
  return {
    status: 200,
    headers: { "content-type": contentType, ...headers },
    body: encode({ from: 0, to: 0, at: 0, event }),
  };
}

/** How the single endpoint refuses: like the route named by the envelope. */
export function refuseEnvelope(error: AgentError, call: Call): Reply {
  return isRunMethod(readMethod(call.body)) ? refuseRun(error, call) : refuse(error, call);
}

function refuse(error: AgentError, call: Call): Reply {
  const { pathname } = call.request.url;
  return toProblem(error, { instance: pathname, requestId: call.requestId });
}

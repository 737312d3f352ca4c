import { jsonBytes } from "@holodeck/agui-core/internal";
import type { Call, InputFile, Protocol, RunRequest } from "@holodeck/agui-core";
import type { LoadedAgent } from "./agents.ts";
import type { Launch } from "./launch.ts";
import { bodyBytesOf, requestOf } from "../http/call.ts";
import type { Settings } from "../options/options.ts";

interface AskedRun {
  readonly protocol: Protocol;
  readonly call: Call;
  readonly request: RunRequest;
  readonly loaded: LoadedAgent;
}

const noFiles: readonly InputFile[] = Object.freeze([]);

/** A run that a protocol asks for, with what the settings add to it. */
export function toLaunch(asked: AskedRun, settings: Settings): Launch {
  const { protocol, call, request, loaded } = asked;
  const { threadId, runId } = request.input;
  const { history = protocol.history } = request;
  const requested = requestOf(call);
  const { onUnknownThread = protocol.onUnknownThread } = settings;
  const sentBytes = sentBytesOf(call);
  return {
    key: { principal: call.principal?.id ?? "", threadId, runId },
    request,
    loaded,
    context: {
      threadId,
      runId,
      agentId: loaded.id,
      principal: call.principal,
      requestId: call.requestId,
      request: requested,
      tools: settings.tools,
      files: request.files ?? noFiles,
    },
    // Who sends no history cannot own it.
    owner: history === "server" ? "server" : (settings.history ?? "client"),
    isWhole: history === "client",
    mayCreate: request.isNewThread === true || onUnknownThread !== "reject",
    sentBytes,
    sentHistory: sentHistoryOf(asked, sentBytes),
    checked: undefined,
    past: undefined,
    isNew: false,
    isRetry: false,
    replaced: undefined,
  };
}

function sentHistoryOf(
  { protocol, call, request }: AskedRun,
  sentBytes: number | undefined,
): Launch["sentHistory"] {
  const { clientKeeps, input, ephemeral, history = protocol.history } = request;
  const keeps = clientKeeps ?? (history === "server" ? "nothing" : "messages");
  if (keeps === "nothing" || ephemeral) return undefined;
  const bytes = sentBytes ?? jsonBytes(call.body);
  return { bytes, messages: input.messages.length, keepsData: keeps === "data" };
}

// Of a body that a parser has read, its length is known as a rule: counting takes a look at all of it.
function sentBytesOf(call: Call): number | undefined {
  const read = bodyBytesOf(call);
  if (read !== undefined) return read;
  if (call.header("content-encoding")) return undefined;
  const declared = Number(call.header("content-length") ?? Number.NaN);
  return declared > 0 ? declared : undefined;
}

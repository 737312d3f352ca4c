import { jsonBytes } from "@holodeck/agui-core/internal";
import type {
  Call,
  Exchange,
  HistoryOwner,
  InputFile,
  Message,
  PastRun,
  Protocol,
  RunKey,
  RunRequest,
  Session,
} from "@holodeck/agui-core";
import type { LiveRun, RunContextInit } from "@holodeck/agui-core/internal";
import type { LoadedAgent } from "./agents.ts";
import type { PreparedInput } from "./history/trust.ts";
import { bodyBytesOf, requestOf } from "../http/call.ts";
import type { Settings } from "../options/options.ts";

/** A run that was asked for and admitted. */
export interface Launch {
  readonly key: RunKey;
  readonly request: RunRequest;
  readonly loaded: LoadedAgent;
  readonly context: RunContextInit;
  /** Lets the platform wait for it, where that is needed. */
  readonly platform: Pick<Exchange, "waitUntil">;
  /** The owner of the messages of its thread, if it has none yet. */
  readonly owner: HistoryOwner;
  /** Whether its protocol sends all messages, and not only what is new. */
  readonly isWhole: boolean;
  /** The bytes of its request; absent when they are not known. */
  readonly sentBytes: number | undefined;
  /** Whether its thread is made when there is none. */
  readonly mayCreate: boolean;
  /** What its client sends with every request; absent when that is only what is new. */
  readonly sentHistory: ConstructorParameters<typeof LiveRun>[0]["sentHistory"];
  /** What was found in the thread before it was taken. */
  checked?:
    | {
        /** Absent for a thread that does not exist. */
        readonly session: Session | undefined;
        readonly prepared: PreparedInput;
      }
    | undefined;
  /** Its thread did not exist, and is made for it. */
  isNew?: boolean;
  /** The run of the same id that its thread has accepted before. */
  past?: PastRun | undefined;
  /** That run never began: this one may. */
  isRetry?: boolean;
  /** The messages that its agent reads in another form than they were sent in. */
  readonly replaced?: ReadonlyMap<Message, Message> | undefined;
}

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
    platform: requested as Pick<Exchange, "waitUntil">,
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

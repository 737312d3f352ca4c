import { AgentError, isAgentError } from "@holodeck/agui-core";
import type { ActiveRun, Call, Encoder, ProtocolHost, Reply } from "@holodeck/agui-core";
import { continuedBy } from "./decode/message-id.ts";
import { heldBefore, heldIds } from "./decode/thread.ts";
import { describeFailure, versionOf, workflowRun } from "./mounted-chat.ts";
import type { MountedChat } from "./mounted-chat.ts";
import { createStreamEncoder } from "./stream-encoder.ts";
import type { StreamFormat } from "./stream-encoder.ts";
import { countChunks, fromIndex } from "./ui-stream/from-index.ts";

interface Wanted extends MountedChat {
  readonly wire: StreamFormat;
}

/** The stream of a run that a client comes back to: whole, or from where the client lost it. */
export async function resume(call: Call, wanted: Wanted): Promise<Reply> {
  const { host, wire } = wanted;
  const id = call.params.id ?? call.query.get("chatId");
  if (!id) {
    throw new AgentError(
      "invalid-request",
      "Pass the id of the chat to resume: ?chatId=<id of the chat>.",
    );
  }
  const place = readPlace(call);
  const active = await find(call, host, { id, place });
  const continues = active && continuedBy(active.record.runId);
  const held = active && continues !== undefined ? await heldBefore(active.record, host) : [];
  const create = (): Encoder =>
    createStreamEncoder({
      ...wanted,
      sdkVersion: versionOf(call, wanted),
      continues,
      // A client that has a part of the stream has what came before it, too.
      ...(place ? { known: held && heldIds(held) } : { preface: held }),
      jsonDepth: host.limits.jsonDepth,
      describeFailure: (failure) => describeFailure(failure, wanted),
    });
  const isShown = active && (place || held);
  return (
    (isShown && (await replay(active, create, { host, place }))) ?? nothingToResume(wire, create())
  );
}

/** Where a client wants a stream to continue. */
type Place = { readonly after: number } | { readonly index: number };

function readPlace(call: Call): Place | undefined {
  const index = call.query.get("startIndex");
  const given = index ?? call.header("last-event-id") ?? "";
  if (given === "") return undefined;
  if (!/^-?\d{1,15}$/.test(given) || (index === null && given.startsWith("-"))) {
    const name = index === null ? "Last-Event-ID" : "startIndex";
    const shown = JSON.stringify(given.slice(0, 40));
    throw new AgentError("invalid-request", `${name} must be a whole number, not ${shown}.`);
  }
  return index === null ? { after: Number(given) } : { index: Number(given) };
}

// The active run of a chat; a client that has a part of a run asks for it when it has ended, too.
async function find(
  call: Call,
  host: ProtocolHost,
  { id, place }: { id: string; place: Place | undefined },
): Promise<ActiveRun | undefined> {
  const named = place && "index" in place ? await host.attach(call, { runId: id }) : undefined;
  const active = named ?? (await host.attach(call, { threadId: id }));
  if (active || !place) return active;
  const principal = call.principal?.id ?? "";
  const session = await host.sessions.get({ principal, threadId: id });
  return session?.lastRunId === undefined
    ? undefined
    : host.attach(call, { runId: session.lastRunId });
}

async function replay(
  active: ActiveRun,
  create: () => Encoder,
  { host, place }: { host: ProtocolHost; place: Place | undefined },
): Promise<Reply | undefined> {
  const { record } = active;
  const headers = workflowRun(record.runId);
  try {
    if (!place) return active.stream(create(), "start", headers);
    if ("after" in place) return active.stream(create(), place.after, headers);
    if (place.index >= 0) return active.stream(fromIndex(create(), place.index), "start", headers);
    const count = await countChunks(record, create(), host);
    const encoder = fromIndex(create(), Math.max(0, count + place.index));
    const tail = { "x-workflow-stream-tail-index": String(count - 1) };
    return active.stream(encoder, "start", { ...headers, ...tail });
  } catch (error) {
    // The start was trimmed, and half a message is useless.
    if (isAgentError(error) && error.code === "replay-gone") return undefined;
    throw error;
  }
}

// Any 4xx is an error to these clients; 204 is one to those before AI SDK 5.
function nothingToResume(wire: Wanted["wire"], encoder: Encoder): Reply {
  if (wire === "ui") return { status: 204 };
  const headers = { "content-type": encoder.contentType, ...encoder.headers };
  return { status: 200, headers, body: "" };
}

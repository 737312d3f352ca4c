import type { Exchange, Reply } from "@holodeck/agui-core";
import type { ShareRequest } from "./share-owner.ts";
import type { WholeAnswers } from "./whole-answers.ts";

export interface SendReplyOptions {
  readonly requestId: string;
  readonly answers: WholeAnswers;
  /** Whether the connection ends with this reply. */
  readonly isLast: boolean;
  /** What it replies to. */
  readonly asked: ShareRequest;
}

/** Writes a reply to the wire. Throws `capacity-exceeded` when there is no room for it; nothing was sent then. */
export function sendReply(exchange: Exchange, reply: Reply, options: SendReplyOptions): void {
  const { status, body, stream } = reply;
  const { requestId, isLast } = options;
  if (!stream && body !== undefined) return sendWhole(exchange, reply, options);
  const headers: Record<string, string> = { "x-request-id": requestId, ...reply.headers };
  headers["x-request-id"] = requestId;
  if (isLast) headers["connection"] = "close";
  const sink = exchange.reply(status, headers);
  if (!stream) sink.end();
  else if (exchange.method === "HEAD") {
    sink.end();
    stream.discard();
  } else {
    // That of a run is the run's: the request that started it waits, not each that follows.
    if (exchange.waitUntil && Object.hasOwn(stream, "done")) exchange.waitUntil(stream.done!);
    stream.attach(sink);
  }
}

// Known in full, it goes out as one piece and needs no chunks.
function sendWhole(
  exchange: Exchange,
  { status, headers: given, body }: Reply,
  { requestId, answers, isLast, asked }: SendReplyOptions,
): void {
  const isRaw = typeof body === "string" || body instanceof Uint8Array;
  // The spread last: what is added to a copy gets a new shape each time.
  const headers: Record<string, string> = isRaw
    ? { "x-request-id": requestId, ...given }
    : { "x-request-id": requestId, "content-type": "application/json", ...given };
  headers["x-request-id"] = requestId;
  if (isLast) headers["connection"] = "close";
  answers.send(exchange, { status, headers, body: isRaw ? body : JSON.stringify(body), asked });
}

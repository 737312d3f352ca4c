import type { Exchange, Reply } from "@holodeck/agui-core";

/** Writes a reply to the wire. */
export function sendReply(exchange: Exchange, reply: Reply, requestId: string): void {
  const { status, body, stream } = reply;
  // The spread last: what is added to a copy gets a new shape each time.
  const headers: Record<string, string> = { "x-request-id": requestId, ...reply.headers };
  headers["x-request-id"] = requestId;
  if (stream && exchange.method === "HEAD") {
    exchange.reply(status, headers).end();
    stream.discard();
    return;
  }
  if (stream) {
    const sink = exchange.reply(status, headers);
    if (stream.done) exchange.waitUntil?.(stream.done);
    stream.attach(sink);
    return;
  }
  if (body === undefined) {
    exchange.reply(status, headers).end();
    return;
  }
  const isRaw = typeof body === "string" || body instanceof Uint8Array;
  if (!isRaw) headers["content-type"] ??= "application/json";
  const bytes = isRaw ? body : JSON.stringify(body);
  const sink = exchange.reply(status, headers);
  sink.write(bytes);
  sink.end();
}

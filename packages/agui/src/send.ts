import type { Exchange, Reply } from "@holodeck/agui-core";

const encoder = new TextEncoder();

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
    // Asked for only where somebody waits: it is made on first use.
    if (exchange.waitUntil && stream.done) exchange.waitUntil(stream.done);
    stream.attach(sink);
    return;
  }
  if (body === undefined) {
    exchange.reply(status, headers).end();
    return;
  }
  const isRaw = typeof body === "string" || body instanceof Uint8Array;
  if (!isRaw) headers["content-type"] ??= "application/json";
  const text = isRaw ? body : JSON.stringify(body);
  const bytes = typeof text === "string" ? encoder.encode(text) : text;
  // Known in full, it goes out as one piece and needs no chunks.
  if (!hasLength(headers)) headers["content-length"] = String(bytes.length);
  const sink = exchange.reply(status, headers);
  sink.write(bytes);
  sink.end();
}

// However a host has spelled it.
function hasLength(headers: Readonly<Record<string, string>>): boolean {
  for (const name in headers) {
    const lower = name.toLowerCase();
    if (lower === "content-length" || lower === "transfer-encoding") return true;
  }
  return false;
}

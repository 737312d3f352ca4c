import type { Exchange, Reply } from "@holodeck/agui-core";

const encoder = new TextEncoder();

/** Writes a reply to the wire. */
export function sendReply(exchange: Exchange, reply: Reply, requestId: string): void {
  const { status, body, stream } = reply;
  if (!stream && body !== undefined) return sendWhole(exchange, reply, requestId);
  const headers: Record<string, string> = { "x-request-id": requestId, ...reply.headers };
  headers["x-request-id"] = requestId;
  const sink = exchange.reply(status, headers);
  if (!stream) sink.end();
  else if (exchange.method === "HEAD") {
    sink.end();
    stream.discard();
  } else {
    // Read only when the platform waits: it is created on first use.
    if (exchange.waitUntil && stream.done) exchange.waitUntil(stream.done);
    stream.attach(sink);
  }
}

// Known in full, it goes out as one piece and needs no chunks.
function sendWhole(exchange: Exchange, { status, headers, body }: Reply, requestId: string): void {
  const isRaw = typeof body === "string" || body instanceof Uint8Array;
  const text = isRaw ? body : JSON.stringify(body);
  // The spread last: what is added to a copy gets a new shape each time.
  const whole: Record<string, string> = isRaw
    ? { "x-request-id": requestId, ...headers }
    : { "x-request-id": requestId, "content-type": "application/json", ...headers };
  whole["x-request-id"] = requestId;
  const isCounted = hasLength(headers);
  if (exchange.respond && !isCounted) return exchange.respond(status, whole, text);
  const bytes = typeof text === "string" ? encoder.encode(text) : text;
  // A 204 has no length: clients of HTTP/2 refuse it with one.
  if (!isCounted && status !== 204) whole["content-length"] = String(bytes.length);
  const sink = exchange.reply(status, whole);
  sink.write(bytes);
  sink.end();
}

// However a host has spelled it.
function hasLength(headers: Reply["headers"]): boolean {
  for (const name in headers) {
    const lower = name.toLowerCase();
    if (lower === "content-length" || lower === "transfer-encoding") return true;
  }
  return false;
}

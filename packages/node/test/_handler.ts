import type { Awaitable, Exchange, ExchangeHandler } from "@holodeck/agui-core";

/** A handler with one behaviour for every path. Nothing returned: it was ours. */
export function handlerOf(
  behaviour: (exchange: Exchange) => Awaitable<boolean | void>,
): ExchangeHandler & { readonly calls: string[] } {
  const calls: string[] = [];
  return {
    calls,
    handle: async (exchange) => (await behaviour(exchange)) !== false,
    fetch: async () => new Response(null, { status: 404 }),
    start: async () => {
      calls.push("start");
    },
    close: async (options) => {
      calls.push(`close ${options?.timeoutMs}`);
    },
  };
}

export function replyJson(exchange: Exchange, value: unknown, status = 200): void {
  const sink = exchange.reply(status, { "content-type": "application/json" });
  sink.write(JSON.stringify(value));
  sink.end();
}

export async function bodyOf(exchange: Exchange): Promise<string> {
  const parts: Uint8Array[] = [];
  for await (const part of exchange.body()) parts.push(part);
  return Buffer.concat(parts).toString("utf8");
}

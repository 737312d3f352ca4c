/** Anything that holds the text of a response. */
export type TextSource =
  | string
  | Response
  | ReadableStream<Uint8Array>
  | AsyncIterable<Uint8Array | string>;

/** The text of a body as it arrives. Stopping early ends the stream. */
export async function* readText(source: TextSource): AsyncGenerator<string, void, undefined> {
  if (typeof source === "string") {
    yield source;
    return;
  }
  // Not by class: servers such as Hono's replace the global `Response`, and `fetch` returns the one before.
  const body = "body" in source ? source.body : source;
  if (!body) return;
  const decoder = new TextDecoder();
  for await (const chunk of Symbol.asyncIterator in body ? body : readStream(body)) {
    yield typeof chunk === "string" ? chunk : decoder.decode(chunk, { stream: true });
  }
}

// Safari's streams cannot be iterated.
async function* readStream(
  stream: ReadableStream<Uint8Array>,
): AsyncGenerator<Uint8Array, void, undefined> {
  const reader = stream.getReader();
  try {
    for (let step = await reader.read(); !step.done; step = await reader.read()) yield step.value;
  } finally {
    await reader.cancel();
  }
}

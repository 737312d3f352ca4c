/** The name by which clients know a stream; the text stream has none. */
type StreamHeader = "x-vercel-ai-ui-message-stream" | "x-vercel-ai-data-stream";

type Headers = Readonly<Record<string, string>>;

/** The headers of a stream, under the name by which its clients know it. */
export function vercelHeaders(name: StreamHeader | undefined, isLegacy = false): Headers {
  const headers = name === undefined ? plain : named[name];
  return isLegacy ? { ...headers, connection: "keep-alive", "content-encoding": "none" } : headers;
}

// Made once, and not by two spreads a run. Compression would hold a stream back until a block is full.
const plain: Headers = { "cache-control": "no-cache, no-transform", "x-accel-buffering": "no" };

const named: Readonly<Record<StreamHeader, Headers>> = {
  "x-vercel-ai-ui-message-stream": { ...plain, "x-vercel-ai-ui-message-stream": "v1" },
  "x-vercel-ai-data-stream": { ...plain, "x-vercel-ai-data-stream": "v1" },
};

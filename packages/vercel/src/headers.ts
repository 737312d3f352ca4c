/** The headers of a stream, under the name by which its clients know it. */
export function vercelHeaders(
  name: "x-vercel-ai-ui-message-stream" | "x-vercel-ai-data-stream" | undefined,
  isLegacy = false,
): Readonly<Record<string, string>> {
  return {
    // Compression holds a stream back until a block is full.
    "cache-control": "no-cache, no-transform",
    "x-accel-buffering": "no",
    ...(name && { [name]: "v1" }),
    ...(isLegacy && { connection: "keep-alive", "content-encoding": "none" }),
  };
}

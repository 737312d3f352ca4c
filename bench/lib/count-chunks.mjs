/** How many pieces a chunked answer was written in: each is one `write` of the server. */
export function countChunks(answer) {
  let at = answer.indexOf("\r\n\r\n") + 4;
  let count = 0;
  while (at < answer.length) {
    const end = answer.indexOf("\r\n", at);
    const size = Number.parseInt(answer.slice(at, end), 16);
    if (!(size >= 0)) throw new Error(`No size of a chunk at ${at}: ${answer.slice(at, at + 20)}`);
    if (size === 0) return count;
    count += 1;
    at = end + 2 + size + 2;
  }
  throw new Error("The answer has no last chunk.");
}

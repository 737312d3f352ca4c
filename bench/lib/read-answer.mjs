const at = "@".charCodeAt(0);

/**
 * Sends a request and reads its answer to the end: how many bytes, and when the first came. How long
 * each stamped delta was on its way is added to `lateMs`.
 */
export function readAnswer(socket, text, lateMs) {
  return new Promise((resolve, reject) => {
    const asked = performance.now();
    let head = "";
    let firstMs = 0;
    let tail = "";
    let beginning = "";
    let expected = Number.POSITIVE_INFINITY;
    let bytes = 0;
    const end = (error) => {
      socket.off("data", onData).off("close", onClose);
      if (error) reject(error);
      else resolve({ bytes, firstMs, beginning });
    };
    const onClose = () => end(new Error(`Cut after ${bytes} bytes: ${head.slice(0, 300)}`));
    const onData = (chunk) => {
      if (bytes === 0) {
        firstMs = performance.now() - asked;
        head = chunk.toString("latin1");
        if (!/^HTTP\/1.1 20[01]/.test(head)) return end(new Error(head.slice(0, 600)));
        const length = /\r\ncontent-length: (\d+)/i.exec(head);
        if (length) expected = head.indexOf("\r\n\r\n") + 4 + Number(length[1]);
      }
      bytes += chunk.length;
      // A short response in full, to report what was wrong with it.
      if (bytes < 2_000) beginning += chunk.toString("latin1");
      if (chunk.indexOf(at) >= 0) readStamps(chunk, lateMs);
      tail = (tail + chunk.toString("latin1", Math.max(0, chunk.length - 7))).slice(-7);
      // A chunked answer ends with an empty chunk, one with a length when it is there.
      if (tail === "\r\n0\r\n\r\n" || bytes >= expected) end();
    };
    socket.on("data", onData).once("close", onClose);
    socket.write(text);
  });
}

// A stamp that was cut in two is left out.
function readStamps(chunk, lateMs) {
  const now = process.hrtime.bigint();
  for (const [, made] of chunk.toString("latin1").matchAll(/@(\d{8,})@/g)) {
    lateMs.push(Number(now - BigInt(made)) / 1e6);
  }
}

// A child of the bench: requests runs from a server over raw sockets and reports what it received. A
// client built on `fetch` would measure itself.
import { openSocket, writeRequest } from "./lib/raw-http.mjs";
import { readAnswer } from "./lib/read-answer.mjs";

let held = [];

process.on("message", async (task) => {
  try {
    process.send(await tasks[task.type](task));
  } catch (error) {
    process.send({ error: error.stack ?? String(error) });
  }
});
process.on("disconnect", () => process.exit());

const tasks = { drive, hold, release };

/** `connections` sockets that ask for `runs` runs between them, one after the other on each. */
async function drive({ port, connections, runs, maxMs, request, minBytes = 0 }) {
  const sockets = await Promise.all(Array.from({ length: connections }, () => openSocket(port)));
  const seen = { runs: 0, bytes: 0, firstMs: [], lateMs: [] };
  const started = performance.now();
  let left = runs;
  await Promise.all(
    sockets.map(async (socket) => {
      while (left > 0 && performance.now() - started < maxMs) {
        left -= 1;
        const { bytes, firstMs, beginning } = await readAnswer(
          socket,
          writeRequest(request),
          seen.lateMs,
        );
        if (bytes < minBytes) {
          throw new Error(`An answer of ${bytes} bytes; ${minBytes} are due: ${beginning}`);
        }
        seen.runs += 1;
        seen.bytes += bytes;
        seen.firstMs.push(firstMs);
      }
      socket.destroy();
    }),
  );
  return { ...seen, ms: performance.now() - started };
}

/** Opens streams, waits for the first bytes of each, and keeps them. */
async function hold({ port, connections, request }) {
  let open = 0;
  // A few at a time: a burst of ten thousand connections overflows the listen queue.
  const lanes = Array.from({ length: 64 }, async () => {
    while (open < connections) {
      open += 1;
      const socket = await openSocket(port);
      held.push(socket);
      await firstBytes(socket, writeRequest(request));
    }
  });
  await Promise.all(lanes);
  return { open: held.length };
}

function firstBytes(socket, text) {
  return new Promise((resolve, reject) => {
    socket.once("close", () => reject(new Error("Closed before the first byte.")));
    const onData = (chunk) => {
      // The filling of the one delta: what comes after it is waiting.
      if (!chunk.includes("xxxx")) return;
      socket.off("data", onData);
      // The end of a held stream must not be reported.
      socket.removeAllListeners("close").resume();
      resolve();
    };
    socket.on("data", onData);
    socket.write(text);
  });
}

async function release() {
  const closed = held.map((socket) => socket.destroy());
  held = [];
  return { closed: closed.length };
}

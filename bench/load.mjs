// A child of the bench: asks a server for runs over raw sockets and says what it saw. A client built on
// `fetch` would measure itself.
import { connect } from "node:net";

let ids = 0;

process.on("message", async (task) => {
  try {
    process.send(await drive(task));
  } catch (error) {
    process.send({ error: error.stack });
  }
});
process.on("disconnect", () => process.exit());

/** `connections` sockets that ask for `runs` runs between them, one after the other on each. */
async function drive({ port, path, connections, runs, body, headers = {} }) {
  const seen = { runs: 0, bytes: 0, firstMs: [], lateMs: [] };
  const started = performance.now();
  let left = runs;
  await Promise.all(
    Array.from({ length: connections }, async () => {
      const socket = await open(port);
      while (left > 0) {
        left -= 1;
        await ask(socket, request(path, body, headers), seen);
      }
      socket.destroy();
    }),
  );
  return { ...seen, ms: performance.now() - started };
}

function open(port) {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: "127.0.0.1" });
    socket.setNoDelay(true);
    socket.once("connect", () => resolve(socket));
    socket.once("error", reject);
  });
}

function request(path, body, headers) {
  ids += 1;
  const id = `${process.pid}-${ids}`;
  const text = JSON.stringify(body).replaceAll("<id>", id);
  const lines = Object.entries({
    host: "localhost",
    "content-type": "application/json",
    accept: "text/event-stream",
    "content-length": Buffer.byteLength(text),
    ...headers,
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `POST ${path.replaceAll("<id>", id)} HTTP/1.1\r\n${lines.join("")}\r\n${text}`;
}

// A chunked answer ends with an empty chunk; one with a length when it is there.
function ask(socket, text, seen) {
  return new Promise((resolve, reject) => {
    const asked = performance.now();
    let head = "";
    let isFirst = true;
    let last = "";
    let expected = Number.POSITIVE_INFINITY;
    let received = 0;
    const end = (error) => {
      socket.off("data", onData).off("close", onClose);
      if (error) return reject(error);
      seen.runs += 1;
      resolve();
    };
    const onClose = () => end(new Error(`Cut after ${received} bytes: ${head.slice(0, 300)}`));
    const onData = (chunk) => {
      seen.bytes += chunk.length;
      received += chunk.length;
      const said = chunk.toString("latin1");
      if (isFirst) {
        isFirst = false;
        head = said;
        seen.firstMs.push(performance.now() - asked);
        if (!head.startsWith("HTTP/1.1 200")) return end(new Error(head.slice(0, 400)));
        const length = /\r\ncontent-length: (\d+)/i.exec(head);
        if (length) expected = head.indexOf("\r\n\r\n") + 4 + Number(length[1]);
      }
      for (const [, at] of said.matchAll(/@(\d{8,})@/g)) {
        seen.lateMs.push(Number(process.hrtime.bigint() - BigInt(at)) / 1e6);
      }
      last = (last + said).slice(-7);
      if (last.endsWith("0\r\n\r\n") || received >= expected) end();
    };
    socket.on("data", onData).once("close", onClose);
    socket.write(text);
  });
}

import { connect } from "node:net";

let ids = 0;

/** A connected socket to a port of the loopback. */
export function openSocket(port) {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: "127.0.0.1" });
    socket.setNoDelay(true);
    socket.once("connect", () => {
      socket.off("error", reject);
      // What breaks shows as a close.
      socket.on("error", () => {});
      resolve(socket);
    });
    socket.once("error", reject);
  });
}

/** The bytes of a request. `<id>` in path and body is new each time, so that every run has its thread. */
export function writeRequest({ method = "POST", path, headers = {}, body }) {
  ids += 1;
  const id = `${process.pid}-${ids}`;
  const text = body === undefined ? "" : JSON.stringify(body).replaceAll("<id>", id);
  const lines = Object.entries({
    host: "localhost",
    accept: "text/event-stream",
    ...(text ? { "content-type": "application/json" } : {}),
    ...(text ? { "content-length": Buffer.byteLength(text) } : {}),
    ...headers,
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${path.replaceAll("<id>", id)} HTTP/1.1\r\n${lines.join("")}\r\n${text}`;
}

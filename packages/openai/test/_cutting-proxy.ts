import { createServer, connect } from "node:net";
import type { AddressInfo, Socket } from "node:net";
import { once } from "node:events";
import { onTestFinished } from "vitest";

/** A proxy that ends a connection when the answer has come to a text. */
export interface CuttingProxy {
  readonly baseURL: string;
  /** How many connections were cut. */
  readonly cuts: number;
}

/** In front of a server; a connection whose answer has the text is reset once so much was passed on. */
export async function cutAfter(baseURL: string, text: string): Promise<CuttingProxy> {
  const { hostname, port, pathname } = new URL(baseURL);
  const sockets = new Set<Socket>();
  let cuts = 0;
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on("error", () => socket.destroy());
      socket.on("close", () => sockets.delete(socket));
    }
    client.pipe(upstream);
    let passed = "";
    upstream.on("data", (bytes: Buffer) => {
      passed += bytes.toString("latin1");
      const at = passed.indexOf(text);
      if (at === -1) return void client.write(bytes);
      cuts++;
      client.write(bytes, () => client.resetAndDestroy());
      upstream.destroy();
    });
    upstream.on("end", () => client.end());
    client.on("close", () => upstream.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return {
    baseURL: `http://127.0.0.1:${(server.address() as AddressInfo).port}${pathname}`,
    get cuts() {
      return cuts;
    },
  };
}

import { once } from "node:events";
import { connect, createServer } from "node:net";
import type { AddressInfo, Socket } from "node:net";

export interface CuttingProxy {
  readonly url: string;
  /** How many connections were cut. */
  readonly cuts: () => number;
  /** How many bytes of the server's were passed on. */
  readonly bytes: () => number;
  close(): Promise<void>;
}

/**
 * A proxy on TCP that cuts connections. `limitOf` returns after how many bytes of the server's the next connection is cut;
 * undefined leaves it alone. With several targets, connections go to them in turn.
 */
export async function cuttingProxy(
  target: string | readonly string[],
  limitOf: () => number | undefined,
): Promise<CuttingProxy> {
  const targets = [target].flat().map((one) => new URL(one));
  let turn = 0;
  const open = new Set<Socket>();
  let cuts = 0;
  let passed = 0;
  const server = createServer((client) => {
    const limit = limitOf();
    const { hostname, port } = targets[turn++ % targets.length]!;
    const upstream = connect(Number(port), hostname);
    let left = limit ?? Infinity;
    const end = (): void => {
      client.destroy();
      upstream.destroy();
    };
    for (const socket of [client, upstream]) {
      open.add(socket);
      socket.on("error", end);
      socket.on("close", () => {
        open.delete(socket);
        end();
      });
    }
    client.pipe(upstream);
    upstream.on("data", (bytes: Buffer) => {
      if (bytes.length < left) {
        left -= bytes.length;
        passed += bytes.length;
        client.write(bytes);
        return;
      }
      cuts++;
      upstream.pause();
      // What was written before arrives: a reset would drop it from the client's buffer.
      client.end(bytes.subarray(0, left), end);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cuts: () => cuts,
    bytes: () => passed,
    async close() {
      server.close();
      for (const socket of open) socket.destroy();
      await once(server, "close");
    },
  };
}

import type { ExchangeHandler } from "@holodeck/agui-core";
import { afterAll, beforeAll, describe } from "vitest";
import { createBindingBench } from "./_binding-bench.ts";
import type { BindingBench } from "./_binding-bench.ts";
import { testBindingClients } from "./_binding-clients.ts";
import { testBindingFailures } from "./_binding-failures.ts";
import { testBindingInOnePiece } from "./_binding-in-one-piece.ts";
import { testBindingRequests } from "./_binding-requests.ts";
import { testBindingResponses } from "./_binding-responses.ts";

/** A binding that serves the suite's handler. */
export interface MountedBinding {
  /** Where the handler's root is, mount prefix included. */
  readonly url: string;
  close(): Promise<void>;
  /** The server speaks HTTP/2 without TLS. By default HTTP/1.1. */
  readonly http2?: boolean;
  /** For bindings without a socket: is called instead of the network. */
  readonly fetch?: (request: Request) => Promise<Response>;
  /** Sent with every request, such as `accept-encoding` behind a compressing middleware. */
  readonly headers?: Readonly<Record<string, string>>;
}

export type MountBinding = (handler: ExchangeHandler) => Promise<MountedBinding>;

export interface TestBindingOptions {
  /** Whether the binding answers a failed handler itself or leaves that to its host. @default "problem" */
  errors?: "problem" | "host";
}

/**
 * Proves that a binding carries requests and answers as the contract of `Exchange` and `Sink` requires.
 *
 * @example
 * ```ts
 * testBinding("my server", async (handler) => {
 *   const server = await listen(toMyHandler(handler));
 *   return { url: server.url, close: () => server.close() };
 * });
 * ```
 */
export function testBinding(
  name: string,
  mount: MountBinding,
  options: TestBindingOptions = {},
): void {
  const { errors = "problem" } = options;
  let bench: BindingBench;
  const kit = {
    errors,
    get bench() {
      return bench;
    },
  };

  // What is held back for ever shows as a timeout; a busy machine must not look like that.
  describe(`binding: ${name}`, { timeout: 120_000 }, () => {
    beforeAll(async () => {
      bench = await createBindingBench(mount);
    });
    afterAll(() => bench.close());
    testBindingRequests(kit);
    testBindingResponses(kit);
    testBindingInOnePiece(kit);
    testBindingFailures(kit);
    testBindingClients(kit);
  });
}

/** The parts of AG-UI's `HttpAgent` that are used here, from 0.0.47 on. */
export interface ConnectableAgent {
  url: string;
  threadId: string;
  headers: Record<string, string>;
  abortController: AbortController;
  // The parameters and the result are those of AG-UI's own method, whichever version it is of.
  // eslint-disable-next-line typescript/no-explicit-any
  connectAgent(...args: any[]): Promise<any>;
}

/** A stream of AG-UI's events, as `HttpAgent` makes it of a response. */
interface Connecting extends ConnectableAgent {
  connect: (input: Input) => unknown;
  run(input: Input): unknown;
}

interface Input {
  readonly threadId: string;
  readonly protocolVersion?: string;
}

/**
 * Shows an agent its thread, for example after a reload: its messages and state, and the run that is active, live until
 * its end. Calls `agent.connectAgent`, which AG-UI leaves to each transport, with the further arguments.
 *
 * @example
 * ```ts
 * const agent = new HttpAgent({ url: "/agui", threadId, fetch: resumable(fetch) });
 * await connectAgent(agent);
 * ```
 */
export function connectAgent<A extends ConnectableAgent>(
  agent: A,
  ...args: Parameters<A["connectAgent"]>
): ReturnType<A["connectAgent"]> {
  const own = agent as unknown as Connecting;
  if (own.abortController.signal.aborted) own.abortController = new AbortController();
  own.connect = (input) => {
    const { threadId, protocolVersion } = input;
    const query = new URLSearchParams({ threadId, ...(protocolVersion && { protocolVersion }) });
    const { headers, abortController } = own;
    const init = {
      headers: { ...headers, Accept: "text/event-stream" },
      signal: abortController.signal,
    };
    // Its `run`, with another request: how a response is read is left to AG-UI.
    const reader = Object.create(own, {
      url: { value: `${own.url}${own.url.includes("?") ? "&" : "?"}${query}` },
      requestInit: { value: () => init },
    }) as Connecting;
    return reader.run(input);
  };
  return own.connectAgent(...args) as ReturnType<A["connectAgent"]>;
}

import type { RecordedExchange } from "../../model.ts";

/** What of an exchange decides how the same is asked in code. */
export type SampleRequest = Pick<
  RecordedExchange,
  "wire" | "agentId" | "threadId" | "input" | "request"
>;

// What an address ends with, behind where the handler is mounted: where runs begin, and where one comes back to them.
const agui = /\/agui(?:\/runs\/[^/]+\/events|\/agent\/[^/]+\/(?:run|connect))?$/;
const suffixes: Readonly<Record<SampleRequest["wire"], RegExp>> = {
  "agui-sse": agui,
  "agui-proto": agui,
  vercel: /\/api\/chat$/,
  rest: /\/agent\/[^/]+\/chat(?:\/stream)?$/,
};

/** The mount path of the handler: the address of a request without the protocol's suffix. */
export function mountOf({ request, wire }: SampleRequest): string {
  const { origin, pathname } = new URL(request.url);
  return origin + pathname.replace(suffixes[wire], "").replace(/\/$/, "");
}

/** AG-UI's endpoint; CopilotKit's `runtimeUrl`. */
export function aguiUrl(asked: SampleRequest): string {
  return `${mountOf(asked)}/agui`;
}

/** The agent, unless it is the one that answers anyway. */
export function namedAgent({ agentId }: SampleRequest): string | undefined {
  return agentId === "" || agentId === "default" ? undefined : agentId;
}

/** Headers that a client does not send by itself. */
export function ownHeaders({ request }: SampleRequest): Record<string, string> | undefined {
  const own = Object.entries(request.headers).filter(
    ([name]) => !/^(?:accept|content-type|content-length|host)$/i.test(name),
  );
  return own.length > 0 ? Object.fromEntries(own) : undefined;
}

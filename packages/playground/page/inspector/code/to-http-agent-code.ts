import { aguiUrl, namedAgent, ownHeaders } from "./endpoints.ts";
import type { SampleRequest } from "./endpoints.ts";
import { toLiteral } from "./to-literal.ts";

/** The same request with AG-UI's own client, as a module that runs as it is. */
export function toHttpAgentCode(asked: SampleRequest): string {
  const { input, threadId } = asked;
  const name = namedAgent(asked);
  const config = {
    // HttpAgent cannot name an agent in the body, so the address does.
    url: aguiUrl(asked) + (name === undefined ? "" : `/agent/${encodeURIComponent(name)}/run`),
    headers: ownHeaders(asked),
    threadId,
    initialMessages: input.messages,
    initialState: isEmpty(input.state) ? undefined : (input.state as unknown),
  };
  const parameters = {
    tools: isEmpty(input.tools) ? undefined : input.tools,
    context: isEmpty(input.context) ? undefined : input.context,
    forwardedProps: isEmpty(input.forwardedProps) ? undefined : (input.forwardedProps as unknown),
    resume: isEmpty(input.resume) ? undefined : input.resume,
  };
  return `import { HttpAgent } from "@ag-ui/client";

const agent = new HttpAgent(${toLiteral(config)});

const { newMessages } = await agent.runAgent(${toLiteral(parameters)}, {
  onEvent: ({ event }) => console.log(event.type),
});

console.log(newMessages);
`;
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null) return true;
  return typeof value === "object" && Object.keys(value).length === 0;
}

import { aguiUrl, ownHeaders } from "./endpoints.ts";
import type { SampleRequest } from "./endpoints.ts";
import { toLiteral } from "./to-literal.ts";

/** A chat of CopilotKit's with the same agent, on the same thread. */
export function toCopilotKitCode(asked: SampleRequest): string {
  const headers = ownHeaders(asked);
  const agentId = asked.agentId || "default";
  return `import { CopilotChat, CopilotKitProvider } from "@copilotkit/react-core/v2";
import "@copilotkit/react-core/v2/styles.css";

const runtimeUrl = ${toLiteral(aguiUrl(asked))};
${headers ? `const headers = ${toLiteral(headers)};\n` : ""}
export function Chat() {
  return (
    <CopilotKitProvider runtimeUrl={runtimeUrl}${headers ? " headers={headers}" : ""}>
      <CopilotChat agentId={${toLiteral(agentId)}} threadId={${toLiteral(asked.threadId)}} />
    </CopilotKitProvider>
  );
}
`;
}

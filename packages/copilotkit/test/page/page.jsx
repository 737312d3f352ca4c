// A page as a user of CopilotKit writes it. Bundled by the test, from packages outside the workspace.
import { CopilotChat, CopilotKitProvider, useFrontendTool } from "@copilotkit/react-core/v2";
import "@copilotkit/react-core/v2/styles.css";
import { createRoot } from "react-dom/client";
import { z } from "zod";

const threadId = new URLSearchParams(location.search).get("thread");

function Paint() {
  useFrontendTool({
    name: "setColor",
    description: "Paints the page.",
    parameters: z.object({ color: z.string() }),
    handler: async ({ color }) => {
      document.body.dataset.color = color;
      return `painted ${color}`;
    },
  });
  return null;
}

createRoot(document.querySelector("#root")).render(
  <CopilotKitProvider
    runtimeUrl="/agui"
    onError={({ error }) => document.body.append(`error: ${error.message}`)}
  >
    <Paint />
    <CopilotChat agentId="default" threadId={threadId} />
  </CopilotKitProvider>,
);

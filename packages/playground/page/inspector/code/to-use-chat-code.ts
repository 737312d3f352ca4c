import { mountOf, namedAgent, ownHeaders } from "./endpoints.ts";
import type { SampleRequest } from "./endpoints.ts";
import { toLiteral } from "./to-literal.ts";
import { toSampleMessages } from "./to-sample-messages.ts";

/** The same question with the AI SDK's `useChat`, as a component. */
export function toUseChatCode(asked: SampleRequest): string {
  const agentId = namedAgent(asked);
  const options = {
    // Without it the answer would be one that AI SDK 5.0 can read.
    api: `${mountOf(asked)}/api/chat?sdkVersion=6`,
    headers: ownHeaders(asked),
    body: agentId === undefined ? undefined : { agentId },
  };
  const { messages, isWhole } = toSampleMessages(asked);
  const isQuestion = messages.at(-1)?.role === "user";
  const earlier = isQuestion ? messages.slice(0, -1) : messages;
  const parts = isQuestion ? messages.at(-1)!.parts : [];
  const note = isWhole ? "" : "// Calls of tools are left out here.\n";
  return `import { useChat } from "@ai-sdk/react";
import { DefaultChatTransport } from "ai";
import type { UIMessage } from "ai";

const transport = new DefaultChatTransport(${toLiteral(options)});

${note}const earlier: UIMessage[] = ${toLiteral(earlier)};

const parts: UIMessage["parts"] = ${toLiteral(parts)};

export function Chat() {
  const { messages, sendMessage, status } = useChat({
    id: ${toLiteral(asked.threadId)},
    messages: earlier,
    transport,
  });
  return (
    <main>
      {messages.map((message) => (
        <p key={message.id}>
          {message.role}:{" "}
          {message.parts.map((part) => (part.type === "text" ? part.text : \`[\${part.type}]\`))}
        </p>
      ))}
      <button disabled={status !== "ready"} onClick={() => sendMessage({ parts })}>
        Ask
      </button>
    </main>
  );
}
`;
}

import type { Message } from "@ag-ui/core";
import { memo } from "preact/compat";
import { MarkdownView } from "../../ui/markdown-view.tsx";
import { ActivityLine } from "./activity-line.tsx";
import { Reasoning } from "./reasoning.tsx";
import { Speaker } from "./speaker.tsx";
import { ToolCallView } from "./tool-call-view.tsx";
import { UserMessageView } from "./user-message-view.tsx";

export type ToolResult = Extract<Message, { role: "tool" }>;

interface MessageViewProps {
  readonly message: Message;
  /** Of its calls, in their order. */
  readonly results: readonly (ToolResult | undefined)[];
  readonly openIds: string;
  readonly isLastQuestion: boolean;
}

/** One message. It is rendered again only when it has changed itself. */
export const MessageView = memo(
  ({ message, results, openIds, isLastQuestion }: MessageViewProps) => {
    switch (message.role) {
      case "user":
        return <UserMessageView message={message} isLast={isLastQuestion} />;
      case "reasoning":
        return <Reasoning text={message.content} isOpen={openIds !== ""} />;
      case "activity":
        return <ActivityLine type={message.activityType} content={message.content} />;
      case "assistant":
        return (
          <article class="assistant" aria-label="Answer" data-subagent={message.subagentRunId}>
            <Speaker name={message.name} subagentRunId={message.subagentRunId} />
            {typeof message.content === "string" && message.content !== "" && (
              <MarkdownView text={message.content} />
            )}
            {message.toolCalls?.map((call, index) => (
              <ToolCallView
                key={call.id}
                call={call}
                result={results[index]}
                isOpen={openIds.split(" ").includes(call.id)}
              />
            ))}
            {message.metadata?.incomplete === true && (
              <p class="note">This answer was cut short.</p>
            )}
          </article>
        );
      default:
        return null;
    }
  },
  (before, after) =>
    before.message === after.message &&
    before.openIds === after.openIds &&
    before.isLastQuestion === after.isLastQuestion &&
    before.results.length === after.results.length &&
    before.results.every((one, index) => one === after.results[index]),
);

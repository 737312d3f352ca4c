import { isRecord } from "@holodeck/agui-core/internal";
import type { Json, Message, RunAgentInput, Session } from "@holodeck/agui-core";

type Resume = NonNullable<RunAgentInput["resume"]>;

/** What a request adds to its thread. */
export interface AddedInput {
  readonly messages: Message[];
  readonly resume?: Resume;
}

/** Takes the results of calls that were questions out of the messages: they are the answers. */
export function withAnswers(session: Session, sent: readonly Message[]): AddedInput {
  const asked = new Set(
    session.pending.flatMap(({ id, kind }) => (kind === "interrupt" ? id : [])),
  );
  const resume: Resume = [];
  const messages = sent.filter((message) => {
    if (message.role !== "tool" || !asked.has(message.toolCallId)) return true;
    resume.push({
      interruptId: message.toolCallId,
      status: "resolved",
      payload: toPayload(typeof message.content === "string" ? message.content : ""),
    });
    return false;
  });
  return resume.length > 0 ? { messages, resume } : { messages };
}

// `true` and `{"approved":true}` are both a yes; what is not JSON is a text.
function toPayload(text: string): Json {
  let value: unknown = text;
  try {
    value = JSON.parse(text);
  } catch {
    // A text.
  }
  if (isRecord(value)) return value;
  return typeof value === "boolean" ? { approved: value } : { value };
}

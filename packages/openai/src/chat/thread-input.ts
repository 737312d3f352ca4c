import type { Message, Session } from "@holodeck/agui-core";
import { withAnswers } from "../shared/answers.ts";
import type { AddedInput } from "../shared/answers.ts";

/**
 * What a request adds to the thread that it names: what follows the last answer, since the thread has the rest.
 * A thread that has nothing takes all of it. The result of a call that was a question is the answer to it.
 */
export function addedTo(session: Session | undefined, sent: readonly Message[]): AddedInput {
  const isKnown =
    session !== undefined && (session.messages.length > 0 || session.lastRunId !== undefined);
  if (!isKnown) return { messages: [...sent] };
  const last = sent.map(({ role }) => role).lastIndexOf("assistant");
  return withAnswers(session, sent.slice(last + 1));
}

import { lastUserText } from "@holodeck/agui";
import type { AgentFunction } from "@holodeck/agui";

interface Draft {
  document: string;
}

/** Writes a document that the page shows while it is written, and keeps it once it is confirmed. */
export const predictiveStateUpdates: AgentFunction = async function* (input, context) {
  const { emit, session, state } = context;
  const last = input.messages.at(-1);

  if (last?.role === "tool") {
    const isConfirmed = readAnswer(last.content);
    // What was written stayed with the server: the page confirms it, it does not send it back.
    if (isConfirmed) await state.set({ document: session.get("draft") });
    else await state.resync();
    yield isConfirmed ? "The changes are saved." : "The changes are dropped.";
    return;
  }

  const document = `A story about ${lastUserText(input)}. It begins well and ends better.`;

  // Before the call: this argument of that tool is going to be `state.document`.
  await emit.predictState([
    { state_key: "document", tool: "write_document_local", tool_argument: "document" },
  ]);
  const call = await emit.toolCall("write_document_local", fragments({ document }));
  await emit.toolResult(call, "Document written.");
  session.set("draft", document);

  emit.toolCall("confirm_changes", {});
};

// JSON as a model streams it: a few letters at a time, valid only as a whole.
async function* fragments(value: Draft): AsyncGenerator<string> {
  yield* JSON.stringify(value).match(/.{1,24}/gs) ?? [];
}

function readAnswer(content: unknown): boolean {
  try {
    const answer = JSON.parse(String(content)) as { accepted?: unknown } | null;
    return answer?.accepted === true;
  } catch {
    return false;
  }
}

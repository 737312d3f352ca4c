import { eventExamples } from "@holodeck/agui-testing";
import { testEncoder } from "@holodeck/agui-testing/vitest";
import { parseDataStreamPart } from "@ai-sdk/ui-utils";
import { parseStreamPart } from "ui-utils-0";
import { dataStreamEncoder } from "@holodeck/agui-vercel";
import { textStreamEncoder } from "@holodeck/agui-vercel";

// Brackets: the parts themselves say when they begin.
const brackets = [
  "TEXT_MESSAGE_START",
  "TEXT_MESSAGE_END",
  "REASONING_START",
  "REASONING_MESSAGE_START",
  "REASONING_MESSAGE_END",
  "REASONING_END",
] as const;

testEncoder("data stream v1", () => dataStreamEncoder(), {
  // Somebody else's event says nothing to a chat.
  dropped: [...brackets, "RAW"],
  parse: (chunk) => lines(chunk).map((line) => parseDataStreamPart(line)),
});

testEncoder("data stream v1 of AI SDK 3.4", () => dataStreamEncoder({ mode: "3.4" }), {
  // Its parser fails on the codes for reasoning.
  dropped: [
    ...brackets,
    "RAW",
    "REASONING_MESSAGE_CONTENT",
    "REASONING_MESSAGE_CHUNK",
    "REASONING_ENCRYPTED_VALUE",
  ],
  parse: (chunk) => lines(chunk).map((line) => parseStreamPart(line)),
});

testEncoder("text stream", () => textStreamEncoder(), {
  // Text is all it has; a snapshot counts for the text that nobody has heard.
  dropped: (Object.keys(eventExamples) as (keyof typeof eventExamples)[]).filter(
    (kind) => !["TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_CHUNK", "MESSAGES_SNAPSHOT"].includes(kind),
  ),
});

function lines(chunk: string | Uint8Array): string[] {
  const text = String(chunk);
  if (!text.endsWith("\n")) throw new SyntaxError("Not whole lines.");
  return text.split("\n").filter((line) => line !== "");
}

import type { Feature } from "../feature.ts";

const text = `## What I can write

Text arrives **word by word**, as *Markdown*:

1. headings and lists,
2. tables,
3. code with \`names\` in it,
4. and [links](https://docs.ag-ui.com).

| Event | Means |
|---|---|
| \`TEXT_MESSAGE_START\` | a message begins |
| \`TEXT_MESSAGE_CONTENT\` | a piece of it |
| \`TEXT_MESSAGE_END\` | it is whole |

\`\`\`ts
import { createAgentHandler } from "@holodeck/agui";

export const handler = createAgentHandler(async function* () {
  yield "Hello, ";
  yield "world.";
});
\`\`\`

> A quotation ends it.
`;

export const markdown: Feature = {
  example: "Show me Markdown",
  words: /\b(markdown|table|code|heading|format)\b/i,
  answer: ({ say }) => say(text),
};

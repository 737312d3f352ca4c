import type { ServerTool } from "@holodeck/agui";
import { defineTool } from "@holodeck/agui-tools";
import type { Feature } from "../feature.ts";

/** Sends nothing: it demonstrates approval. */
export const mailTool: ServerTool = defineTool({
  name: "send_mail",
  description: "Sends a mail, when a person allows it.",
  parameters: [
    { name: "to", description: "Address of the receiver" },
    { name: "subject", description: "What it is about" },
    { name: "body", description: "The text" },
  ],
  needsApproval: true,
  execute: ({ to }) => ({ sent: true, to }),
});

export const mail: Feature = {
  example: "Send a mail to ada@example.com",
  words: /\be?-?mail\b/i,
  async answer({ question, isContinued, say, call }) {
    const to = /[\w.+-]+@[\w-]+(?:\.[\w-]+)+/.exec(question.text)?.[0] ?? "team@example.com";
    // The text before the question is not repeated after the answer.
    if (!isContinued) await say("I have written a mail. You have the last word. ");
    const { status, error } = await call("send_mail", {
      to,
      subject: "Greetings from the demo",
      body: "Hello,\n\nthis mail was written by an agent and allowed by a person.",
    });
    if (status === "done") await say(`The mail to ${to} is sent. (Not really: this is a demo.)`);
    if (status === "failed" && error.code === "approval-denied") {
      await say(`I did not send the mail to ${to}.${reasonOf(error.message)}`);
    } else if (status === "failed") await say(`The mail was not sent: ${error.message}`);
  },
};

function reasonOf(message: string): string {
  const reason = /: (.+)$/s.exec(message)?.[1];
  return reason === undefined ? "" : ` You said: ${reason}`;
}

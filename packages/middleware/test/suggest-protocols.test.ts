import { createAgentHandler } from "@holodeck/agui";
import { silentLogger } from "@holodeck/agui-core";
import { describe, expect, test } from "vitest";
import { suggestQuestions } from "../src/index.ts";
import { dialogues, speak } from "./_dialogues.ts";

test("every protocol that is served by default is spoken here", () => {
  const { protocols } = createAgentHandler(async () => "a", { logger: silentLogger }).info();
  const spoken = new Set(dialogues.map(({ protocol }) => protocol().name));
  expect([...spoken].sort()).toEqual(Object.keys(protocols as object).sort());
});

describe.each(dialogues)("suggested questions, over $name", (dialogue) => {
  const ask = async (questions: string[]): Promise<void> => {
    const handler = createAgentHandler(async () => "Because.", {
      logger: silentLogger,
      protocols: [dialogue.protocol()],
      onDisconnect: "continue",
      middleware: [suggestQuestions(() => questions)],
    });
    for await (const { asked, status, text } of speak(handler, dialogue)) {
      expect([200, 204], asked.path).toContain(status);
      const { told } = asked;
      if (told === undefined) continue;
      if (questions.length > 0) expect(text, asked.path).toContain(told);
      else expect(text, asked.path).not.toContain("suggested_questions");
    }
    await handler.close();
  };

  test("reach the client in the form it knows", () => ask(["Why?"]));

  test("leave no trace where there are none", () => ask([]));
});

import { EventType } from "@holodeck/agui-core";
import type { BaseEvent } from "@holodeck/agui-core";

/** What an answer has besides, where there is something to ask next. */
export interface Suggested {
  suggested_questions?: readonly string[];
}

/** Listens for what `suggestQuestions` says; the last word counts. */
export function createSuggested(): { note(event: BaseEvent): void; readonly fields: Suggested } {
  let questions: readonly string[] = [];
  return {
    note({ type, name, value }) {
      if (type !== EventType.CUSTOM || name !== "suggested_questions") return;
      const list: readonly unknown[] = Array.isArray(value) ? value : [];
      questions = list.filter((one) => typeof one === "string");
    },
    get fields() {
      return questions.length === 0 ? {} : { suggested_questions: questions };
    },
  };
}

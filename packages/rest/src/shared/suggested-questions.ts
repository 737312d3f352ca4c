import { EventType } from "@holodeck/agui-core";
import type { BaseEvent } from "@holodeck/agui-core";

/** What an answer has besides, where there is something to ask next. */
interface Suggested {
  suggested_questions?: readonly string[];
}

const nothing: Suggested = Object.freeze({});

/** Collects the output of `suggestQuestions`; the last one is used. */
export function createSuggested(): SuggestedQuestions {
  return new SuggestedQuestions();
}

// A class: an object literal with a getter gets a unique hidden class, and every answer has one of
// these.
class SuggestedQuestions {
  #questions: readonly string[] | undefined;

  /** Can be handed on as it is. */
  readonly note = ({ type, name, value }: BaseEvent): void => {
    if (type !== EventType.CUSTOM || name !== "suggested_questions") return;
    const list: readonly unknown[] = Array.isArray(value) ? value : [];
    const questions = list.filter((one) => typeof one === "string");
    this.#questions = questions.length === 0 ? undefined : questions;
  };

  /** False: there is nothing in `fields`. */
  get isThere(): boolean {
    return this.#questions !== undefined;
  }

  get fields(): Suggested {
    return this.#questions ? { suggested_questions: this.#questions } : nothing;
  }
}

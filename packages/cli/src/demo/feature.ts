import type { Talk } from "./talk.ts";

/** One thing that the demo agent can show. */
export interface Feature {
  /** A question that leads to it. */
  readonly example: string;
  /** What a question that means it has in it. */
  readonly words: RegExp;
  /** A tool of the client's without which it is not suggested. */
  readonly clientTool?: string;
  answer(talk: Talk): Promise<void>;
}

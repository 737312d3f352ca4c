import { needsEscape } from "@holodeck/agui-core/internal";
import { toIso } from "./threads-events.ts";

/**
 * The frames of `token`. Most frames of a stream are these, and all but the text repeats: the start for a
 * millisecond, the end for a message. Caching both avoids formatting the date for every frame.
 */
export class TokenFrames {
  readonly #threadId: string;
  #at = Number.NaN;
  #head = "";
  #messageId: string | undefined;
  #tail = "";

  constructor(threadId: string) {
    this.#threadId = threadId;
  }

  one(delta: string, messageId: string, at: number): string {
    this.#prepare(messageId, at);
    return this.#frame(delta, !needsEscape.test(delta));
  }

  /** The frames of deltas that arrived at once; `all` is their concatenation. */
  each(deltas: readonly string[], all: string, place: { messageId: string; at: number }): string {
    this.#prepare(place.messageId, place.at);
    // One test of the whole text shows that no delta needs escaping.
    const isPlain = !needsEscape.test(all);
    let frames = "";
    for (const delta of deltas) if (delta !== "") frames += this.#frame(delta, isPlain);
    return frames;
  }

  #prepare(messageId: string, at: number): void {
    if (at !== this.#at) {
      this.#at = at;
      const head = { event: "token", thread_id: this.#threadId, timestamp: toIso(at) };
      this.#head = `data: ${JSON.stringify(head).slice(0, -1)},"token":"`;
    }
    if (messageId !== this.#messageId) {
      this.#messageId = messageId;
      this.#tail = `","message_id":${JSON.stringify(messageId)}}\n\n`;
    }
  }

  #frame(delta: string, isPlain: boolean): string {
    return `${this.#head}${isPlain ? delta : JSON.stringify(delta).slice(1, -1)}${this.#tail}`;
  }
}

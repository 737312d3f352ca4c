/** What is removed from text, and its replacement. */
export interface TextRules {
  readonly patterns: readonly RegExp[];
  readonly replacement: string | ((match: string) => string);
  /**
   * Matches the end of a text when a pattern may match from there on once more has arrived. Needed only for
   * what is longer than the window before a pattern recognises it.
   */
  readonly opening?: RegExp | undefined;
}

/** Redacts text that comes in pieces. */
export interface TextStream {
  /** What may be shown by now. */
  push(piece: string): string;
  /** The rest; nothing more is coming. */
  end(): string;
}

interface Match {
  readonly start: number;
  readonly end: number;
}

// A longer match is replaced before its end has arrived.
const maxHeld = 16 * 1024;
// Of such a match these parts are kept, so that the pattern still recognises what follows as part of it.
const keptOfMatch = 1024;

// Patterns cannot go on where they stopped. Held text that is longer is looked at again only when it has grown by a
// sixteenth: looking at each piece would take quadratic time.
const longHeld = 1024;
// Of what was shown, patterns may look back at least this far.
const lookBehind = 64;

/** The patterns as they are used here: looking for every match, from a given place on. */
export function toGlobal(pattern: RegExp): RegExp {
  const flags = pattern.flags.replace("y", "");
  return new RegExp(pattern.source, flags.includes("g") ? flags : `${flags}g`);
}

/** The text without what the rules take out. */
export function redactText(text: string, rules: TextRules): string {
  const stream = createTextStream(rules, 0);
  return stream.push(text) + stream.end();
}

/**
 * Redacts as if it had seen the whole text, as long as a match shows itself within `window` characters, or by
 * the rules' `opening`: so many are held back, and all of a match that they may still be part of.
 */
export function createTextStream(rules: TextRules, window: number): TextStream {
  /** Text that was shown, which patterns may look back at, then text that is held. */
  let text = "";
  let shown = 0;
  /** Characters after `shown` that belong to a match that was replaced and may not have ended. */
  let replaced = 0;
  /** How long the text has to be before it is looked at again. */
  let nextLook = 0;

  function take(most: number, isEnd: boolean): string {
    const until = isEnd ? most : holdFrom(most);
    let result = "";
    while (shown < text.length) {
      const match = findMatch(text, shown, rules.patterns);
      // What was kept of it does not match by itself, so nothing after it can be a part of it.
      if (replaced > 0 && match?.start !== shown) {
        shown += replaced;
        replaced = 0;
        continue;
      }
      if (!match || match.start >= until) break;
      const isOpen = !isEnd && match.end > until;
      if (isOpen && match.end - match.start < maxHeld) {
        result += text.slice(shown, match.start);
        shown = match.start;
        return result;
      }
      result += text.slice(shown, match.start);
      if (replaced === 0) result += replace(text.slice(match.start, match.end));
      if (isOpen) {
        shorten(match);
        return result;
      }
      replaced = 0;
      shown = match.end;
    }
    if (shown < until) {
      result += text.slice(shown, until);
      shown = until;
    }
    return result;
  }

  // What is before this can be shown, unless it is part of a match.
  function holdFrom(most: number): number {
    // Half a character would reach the client as none.
    const whole = /[\uD800-\uDBFF]/.test(text.charAt(most - 1)) ? most - 1 : most;
    const opening = rules.opening && findMatch(text, shown, [rules.opening]);
    const isNear = opening !== undefined && opening.end - opening.start < maxHeld;
    return Math.max(shown, isNear ? Math.min(whole, opening.start) : whole);
  }

  // A pattern that matches the beginning and the end also matches without what is between them.
  function shorten({ start, end }: Match): void {
    const kept = Math.max(keptOfMatch, window);
    const inside = text.slice(start, end);
    const standIn = inside.slice(0, kept) + inside.slice(-kept);
    text = text.slice(0, start) + standIn + text.slice(end);
    shown = start;
    replaced = standIn.length;
  }

  function replace(match: string): string {
    const { replacement } = rules;
    return typeof replacement === "string" ? replacement : replacement(match);
  }

  return {
    push(piece) {
      text += piece;
      if (text.length < nextLook) return "";
      const result = take(text.length - window, false);
      const keep = Math.max(0, shown - Math.max(window, lookBehind));
      text = text.slice(keep);
      shown -= keep;
      const held = text.length - shown - window;
      nextLook = held > longHeld ? text.length + (held >> 4) : 0;
      return result;
    },
    end() {
      const result = take(text.length, true);
      text = "";
      shown = 0;
      replaced = 0;
      nextLook = 0;
      return result;
    },
  };
}

// The leftmost; of two at one place the one that was named first.
function findMatch(text: string, from: number, patterns: readonly RegExp[]): Match | undefined {
  let first: Match | undefined;
  for (const pattern of patterns) {
    pattern.lastIndex = from;
    for (let found = pattern.exec(text); found; found = pattern.exec(text)) {
      const [{ length }, start] = [found[0], found.index];
      // Nothing to take out; a pattern that matches nothing would do so for ever.
      if (length === 0) {
        pattern.lastIndex++;
        continue;
      }
      if (!first || start < first.start) first = { start, end: start + length };
      break;
    }
  }
  return first;
}

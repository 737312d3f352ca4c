/** What is taken out of text, and what stands in its place. */
export interface TextRules {
  readonly patterns: readonly RegExp[];
  readonly replacement: string | ((match: string) => string);
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

// A match that goes on for longer than this is taken out as far as it goes, and looked for anew.
const maxHeld = 16 * 1024;

/** The patterns as they are used here: looking for every match, from wherever they are told to. */
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
 * Redacts as if it had seen the whole text, as long as a match shows itself within `window`
 * characters: so many are held back, and all of a match that they may still be part of.
 */
export function createTextStream(rules: TextRules, window: number): TextStream {
  /** Told text, which patterns may look back at, then text that is held. */
  let text = "";
  let told = 0;

  function take(most: number, isEnd: boolean): string {
    // Half a character would reach the client as none.
    const until = Math.max(told, /[\uD800-\uDBFF]/.test(text.charAt(most - 1)) ? most - 1 : most);
    let shown = "";
    while (told < text.length) {
      const match = findMatch(text, told, rules.patterns);
      if (!match || match.start >= until) break;
      // It may go on with the next piece.
      if (!isEnd && match.end > until && match.end - match.start < maxHeld) {
        shown += text.slice(told, match.start);
        told = match.start;
        return shown;
      }
      shown += text.slice(told, match.start) + replace(text.slice(match.start, match.end));
      told = match.end;
    }
    if (told < until) {
      shown += text.slice(told, until);
      told = until;
    }
    return shown;
  }

  function replace(match: string): string {
    const { replacement } = rules;
    return typeof replacement === "string" ? replacement : replacement(match);
  }

  return {
    push(piece) {
      text += piece;
      const shown = take(text.length - window, false);
      const keep = Math.max(0, told - window);
      text = text.slice(keep);
      told -= keep;
      return shown;
    },
    end() {
      const shown = take(text.length, true);
      text = "";
      told = 0;
      return shown;
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

/** Texts of files that were read before: a history brings its files along with every turn. */
export interface TextCache {
  get(key: string): string | undefined;
  set(key: string, text: string): void;
}

const maxChars = 8_000_000;

/** Keeps so many characters, those that were asked for last. */
export function createTextCache(): TextCache {
  const texts = new Map<string, string>();
  let used = 0;
  return {
    get(key) {
      const text = texts.get(key);
      if (text === undefined) return undefined;
      texts.delete(key);
      texts.set(key, text);
      return text;
    },
    set(key, text) {
      used += text.length - (texts.get(key)?.length ?? 0);
      texts.delete(key);
      texts.set(key, text);
      for (const [oldest, old] of texts) {
        if (used <= maxChars) break;
        texts.delete(oldest);
        used -= old.length;
      }
    },
  };
}

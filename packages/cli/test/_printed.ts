// For a machine that is busy with something else; then what was printed is shown.
const patienceMs = 60_000;

/** What somebody prints, to be waited for. */
export interface Printed {
  /** There is more. */
  tell(): void;
  /** There will be no more. */
  end(how: string): void;
  /** Resolves with the first match; rejects when there will be none. */
  waitFor(pattern: RegExp): Promise<RegExpExecArray>;
}

export function createPrinted(read: () => string): Printed {
  const listeners = new Set<() => void>();
  let ended: string | undefined;
  const tell = (): void => {
    for (const listener of listeners) listener();
  };
  return {
    tell,
    end(how) {
      ended = how;
      tell();
    },
    waitFor(pattern) {
      return new Promise((resolve, reject) => {
        const finish = (settle: () => void): void => {
          clearTimeout(timer);
          listeners.delete(look);
          settle();
        };
        const fail = (how: string): void =>
          finish(() => reject(new Error(`${how} without ${pattern}.\n${read()}`)));
        const look = (): void => {
          const found = pattern.exec(read());
          if (found) finish(() => resolve(found));
          else if (ended !== undefined) fail(ended);
        };
        const timer = setTimeout(() => fail(`It went on for ${patienceMs} ms`), patienceMs);
        listeners.add(look);
        look();
      });
    },
  };
}

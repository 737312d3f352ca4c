/** Lets so many pieces of work go on at once; the others wait in the order in which they came. */
export function createGate(width: number): <T>(work: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = [];
  let inside = 0;

  return async (work) => {
    if (inside < width) inside++;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      // A slot is handed to the next waiter directly, so that no other caller can take it in
      // between.
      const next = waiting.shift();
      if (next) next();
      else inside--;
    }
  };
}

import type { Subscribable } from "@holodeck/agui-core";

/** Collects all values of a stream; rejects when it fails. */
export async function collect<T>(stream: Subscribable<T> | AsyncIterable<T>): Promise<T[]> {
  const values: T[] = [];
  if (Symbol.asyncIterator in stream) {
    for await (const value of stream) values.push(value);
    return values;
  }
  return new Promise((resolve, reject) => {
    stream.subscribe({
      next: (value) => values.push(value),
      error: (reason) => reject(reason),
      complete: () => resolve(values),
    });
  });
}

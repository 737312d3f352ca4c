/** Watches what this process takes while files are read. */
export interface MemoryWatch {
  /** Called when the first of several files is read: what is taken now is not theirs. */
  begin(): void;
  /** Whether what was added since then exceeds so many bytes. */
  isExceeded(bytes: number): boolean;
}

/**
 * A file that was refused may leave memory behind that the allocator keeps. Counting from what is taken at the moment
 * alone, each such file could add the limit once more; so at most one limit above the least that was ever taken is
 * not counted. Of several measures all have to exceed it.
 */
export function createMemoryWatch(
  memoryBytes: number,
  measure: () => readonly number[] = measureProcess,
): MemoryWatch {
  let least: readonly number[] = [];
  let base: readonly number[] = [];
  return {
    begin() {
      const taken = measure();
      least = taken.map((bytes, at) => Math.min(bytes, least[at] ?? bytes));
      base = taken.map((bytes, at) => Math.min(bytes, least[at]! + memoryBytes));
    },
    isExceeded: (added) => measure().every((bytes, at) => bytes - base[at]! > added),
  };
}

// What the host itself adds on its heap is in the first, what it has given back to the allocator in the second.
function measureProcess(): readonly number[] {
  const { rss, heapTotal, external } = process.memoryUsage();
  return [rss, rss - heapTotal - external];
}

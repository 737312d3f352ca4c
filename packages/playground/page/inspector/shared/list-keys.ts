const page = 10;

/** Where a key leads in a list, if anywhere. From nowhere, any of them leads into it. */
export function moveBy(key: string, from: number | undefined, count: number): number | undefined {
  if (count === 0) return undefined;
  const to = (index: number): number => Math.min(count - 1, Math.max(0, index));
  switch (key) {
    case "ArrowDown":
      return to((from ?? -1) + 1);
    case "ArrowUp":
      return to((from ?? count) - 1);
    case "PageDown":
      return to((from ?? 0) + page);
    case "PageUp":
      return to((from ?? count) - page);
    case "Home":
      return 0;
    case "End":
      return count - 1;
    default:
      return undefined;
  }
}

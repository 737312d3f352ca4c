/** Whether a text has more code points than that. One with that many UTF-16 units cannot have more of them. */
export function isLonger(text: string, limit: number): boolean {
  if (text.length <= limit) return false;
  if (text.length > 2 * limit) return true;
  let count = 0;
  for (const _ of text) if (++count > limit) return true;
  return false;
}

/**
 * Compares two secrets in a time that does not reveal how much of the guess was right. It depends
 * only on the length of the guess.
 *
 * @example
 * ```ts
 * bearerAuth({ verify: (token) => (safeEqual(token, secret) ? { id: "ci" } : null) });
 * ```
 */
export function safeEqual(guess: string, secret: string): boolean {
  if (typeof guess !== "string" || typeof secret !== "string") {
    throw new TypeError("safeEqual compares two strings.");
  }
  const encoder = new TextEncoder();
  const [given, wanted] = [encoder.encode(guess), encoder.encode(secret)];
  let difference = given.length ^ wanted.length;
  for (let index = 0; index < given.length; index++) {
    // `% 1` for an empty secret; the lengths already differ.
    difference |= given[index]! ^ (wanted[index % (wanted.length || 1)] ?? 0);
  }
  return difference === 0;
}

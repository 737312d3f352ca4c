const alphabet = codesOf("0123456789ABCDEFGHJKMNPQRSTVWXYZ");
const poolSize = 16 * 256;

// One call to the CSPRNG for 256 ids: a call per id costs a hundred times more.
let pool: Uint8Array | undefined;
let used = poolSize;
let lastTime = -1;
// Ten letters of the time, sixteen of chance. Made of codes at once, an id is one string of 48 bytes; letter
// by letter it was a chain of sixteen.
const letters: number[] = codesOf("0".repeat(26));

/** A new ULID: 48 bits of time and 80 random bits, in 26 characters that sort by time. */
export function ulid(now: number = Date.now()): string {
  if (now !== lastTime) {
    lastTime = now;
    writeTime(now);
  }
  if (used >= poolSize) {
    pool ??= new Uint8Array(poolSize);
    crypto.getRandomValues(pool);
    used = 0;
  }
  // 256 is a multiple of 32, so the low five bits of a random byte are uniform.
  for (let i = 0; i < 16; i++) letters[10 + i] = alphabet[pool![used + i]! & 31]!;
  used += 16;
  return String.fromCharCode(...letters);
}

function writeTime(time: number): void {
  for (let rest = time, i = 9; i >= 0; i--) {
    letters[i] = alphabet[rest % 32]!;
    rest = Math.floor(rest / 32);
  }
}

function codesOf(text: string): number[] {
  return Array.from(text, (letter) => letter.charCodeAt(0));
}

/** True for what we accept as an id everywhere: 1 to 256 visible characters. */
export function isOpaqueId(value: unknown): value is string {
  return (
    typeof value === "string" && value.length <= 256 && /^[\x21-\x7e\u00a1-\uffff]+$/.test(value)
  );
}

const alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const poolSize = 16 * 256;

// One call to the CSPRNG for 256 ids: a call per id costs a hundred times more.
let pool: Uint8Array | undefined;
let used = poolSize;
let lastTime = -1;
let timePrefix = "";

/** A new ULID: 48 bits of time and 80 random bits, in 26 characters that sort by time. */
export function ulid(now: number = Date.now()): string {
  if (now !== lastTime) {
    lastTime = now;
    timePrefix = encodeTime(now);
  }
  if (used >= poolSize) {
    pool ??= new Uint8Array(poolSize);
    crypto.getRandomValues(pool);
    used = 0;
  }
  let id = timePrefix;
  // 256 is a multiple of 32, so the low five bits of a random byte are uniform.
  for (let i = 0; i < 16; i++) id += alphabet[pool![used + i]! & 31];
  used += 16;
  return id;
}

function encodeTime(time: number): string {
  let text = "";
  for (let rest = time, i = 0; i < 10; i++) {
    text = alphabet[rest % 32]! + text;
    rest = Math.floor(rest / 32);
  }
  return text;
}

/** True for what we accept as an id everywhere: 1 to 256 visible characters. */
export function isOpaqueId(value: unknown): value is string {
  return (
    typeof value === "string" && value.length <= 256 && /^[\x21-\x7e\u00a1-\uffff]+$/.test(value)
  );
}

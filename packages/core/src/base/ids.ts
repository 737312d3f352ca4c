const alphabet = codesOf("0123456789ABCDEFGHJKMNPQRSTVWXYZ");
const poolSize = 16 * 256;

// One call to the CSPRNG for 256 ids: a call per id costs a hundred times more.
let pool: Uint8Array<ArrayBuffer> | undefined;
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

/** True for what we accept as the id of a thread, a run or a session: 1 to 256 visible characters. */
export function isOpaqueId(value: unknown): value is string {
  return (
    typeof value === "string" &&
    value.length <= 256 &&
    opaqueCharacters.test(value) &&
    !loneSurrogate.test(value)
  );
}

const opaqueCharacters = /^[\x21-\x7e\u00a1-\uffff]+$/;
// With the flag `u` this class has no member that is half of a pair.
const loneSurrogate = /\p{Surrogate}/u;
const maxMessageId = 1024;

/**
 * True for what clients may send back as the id of a message, a tool call, an interrupt or a subagent: 1 to
 * 1,024 characters of well-formed Unicode.
 */
export function isMessageId(value: unknown): value is string {
  return (
    typeof value === "string" &&
    value !== "" &&
    value.length <= maxMessageId &&
    !loneSurrogate.test(value)
  );
}

const visibleAscii = /^[\x21-\x7e]+$/;

/**
 * A header with an id, or none: headers carry visible ASCII, and ids may have more. Clients find every id in
 * the body, too.
 */
export function idHeader(name: string, id: string): Record<string, string> {
  return visibleAscii.test(id) ? { [name]: id } : {};
}

/**
 * The id under which clients know a message, a tool call, an interrupt or a subagent: the same id when they
 * may send it back, else a short one that depends on nothing but the old one.
 *
 * @example
 * ```ts
 * toMessageId("call_1"); // "call_1"
 * toMessageId("x".repeat(2000)); // "id-" and 32 hexadecimal digits
 * ```
 */
export function toMessageId(id: string): string {
  return isMessageId(id) ? id : `id-${digest(id)}`;
}

/** The same for an id that may be empty. */
export function toSentId(id: string, runId = ""): string {
  // An empty id names something of its run alone: under one name, two runs would write to one message. Half of
  // a pair in front keeps what it is made from from being an id itself.
  return toMessageId(id === "" ? `\ud800${runId}` : id);
}

const markChars = 8;
const proofChars = 4;

/**
 * The id of a call whose own id another call of its thread has. It depends on nothing but the old id, the run and
 * a count, and is made of letters that every model's API takes.
 */
export function toLaterCallId(id: string, runId: string, count: number): string {
  const marked = `${id}-${digest(`${count} ${runId} ${id}`).slice(0, markChars)}`;
  return toMessageId(marked + proofOf(marked));
}

/** The id that such an id was made from. Returns undefined for any other id. */
export function originalCallId(id: string): string | undefined {
  const end = id.length - markChars - proofChars - 1;
  if (end < 1 || id[end] !== "-") return undefined;
  return id.endsWith(proofOf(id.slice(0, -proofChars))) ? id.slice(0, end) : undefined;
}

function proofOf(marked: string): string {
  return digest(marked).slice(0, proofChars);
}

/** 128 bits of a text in hexadecimal digits: not a secret, but two texts do not meet by accident. */
function digest(text: string): string {
  let [a, b, c, d] = [0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344];
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    a = Math.imul(a ^ code, 0x9e3779b1);
    b = Math.imul(b ^ code, 0x85ebca77) + a;
    c = Math.imul(c ^ code, 0xc2b2ae3d) + b;
    d = Math.imul(d ^ code, 0x27d4eb2f) + c;
  }
  return [a ^ d, b ^ a, c ^ b, d ^ c].map((lane) => toHex(mix(lane ^ text.length))).join("");
}

function mix(lane: number): number {
  const first = Math.imul(lane ^ (lane >>> 16), 0x7feb352d);
  const second = Math.imul(first ^ (first >>> 15), 0x846ca68b);
  return second ^ (second >>> 16);
}

function toHex(lane: number): string {
  return (lane >>> 0).toString(16).padStart(8, "0");
}

import type { Random } from "./random.ts";

/** Texts that parsers and stores have failed on. */
export const hostileTexts: readonly string[] = [
  "",
  " ",
  "\0",
  "__proto__",
  "constructor",
  "../../etc/passwd",
  "%00%2e%2e%2f",
  "%zz",
  "\ud800",
  "\udfff\ud800",
  "e\u0301\u200b\u202e",
  "日本語",
  "😀",
  "a\r\nset-cookie: x",
  "a\nb\u2028c",
  "' OR '1'='1",
  "${process.env.HOME}",
  "{{7*7}}",
  "null",
  "NaN",
  "-1",
  "1e309",
  "9007199254740993",
  "x".repeat(300),
  "x".repeat(5_000),
  '"',
  "\\",
  "</script>",
  "data: x\n\ndata: y",
  "[DONE]",
];

const hostileValues: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -0,
  -1,
  1.5,
  Number.MAX_SAFE_INTEGER,
  1e308,
  [],
  {},
  [[]],
  [null],
  { length: 3 },
  { toString: 1, valueOf: 2 },
  { toJSON: "x" },
];

export function hostileValue(random: Random): unknown {
  const kind = random.below(10);
  if (kind === 0) return nested(random.pick([3, 60, 64, 65, 200]), random);
  if (kind === 1) return Array.from({ length: random.pick([10, 1_001, 3_000]) }, () => ({}));
  return kind < 6 ? random.pick(hostileTexts) : random.pick(hostileValues);
}

function nested(depth: number, random: Random): unknown {
  let value: unknown = "deep";
  for (let level = 0; level < depth; level++) value = random.chance(0.5) ? [value] : { a: value };
  return value;
}

/** A copy of JSON with some of its values and keys changed. */
export function mutateJson(value: unknown, random: Random, rate = 0.06): unknown {
  if (random.chance(rate)) return hostileValue(random);
  if (Array.isArray(value)) {
    const items = value.map((one) => mutateJson(one, random, rate));
    if (items.length > 0 && random.chance(rate)) items.push(random.pick(items));
    if (random.chance(rate)) items.splice(random.below(items.length + 1), 1);
    return items;
  }
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).flatMap(([key, one]): [string, unknown][] => {
    if (random.chance(rate)) return [];
    const name = random.chance(rate / 2) ? random.pick(hostileTexts) : key;
    return [[name, mutateJson(one, random, rate)]];
  });
  if (random.chance(rate)) entries.push([random.pick(hostileTexts), hostileValue(random)]);
  // Unlike assignment, this makes an own `__proto__`.
  return Object.fromEntries(entries);
}

/** Bytes with some flipped, removed, repeated or put in. */
export function mutateBytes(bytes: Uint8Array, random: Random): Uint8Array {
  let list = Array.from(bytes);
  const rounds = 1 + random.below(6);
  for (let round = 0; round < rounds; round++) {
    const at = random.below(list.length + 1);
    const length = 1 + random.below(random.chance(0.8) ? 4 : 200);
    switch (random.below(6)) {
      case 0:
        list[at] = random.below(256);
        break;
      case 1:
        list.splice(at, length);
        break;
      case 2:
        list.splice(at, 0, ...list.slice(at, at + length));
        break;
      case 3:
        list.splice(at, 0, ...Array.from({ length }, () => random.below(256)));
        break;
      case 4:
        if (at < list.length) list[at] = (list[at]! ^ (1 << random.below(8))) & 255;
        break;
      default:
        list = random.chance(0.2) ? list.slice(0, at) : list;
    }
  }
  return Uint8Array.from(list, (byte) => byte ?? 0);
}

const encoder = new TextEncoder();

/** The same for text: also with whole words, lines and hostile texts. */
export function mutateText(text: string, random: Random): string {
  let changed = text;
  const rounds = 1 + random.below(4);
  for (let round = 0; round < rounds; round++) {
    const at = random.below(changed.length + 1);
    const lines = changed.split("\n");
    switch (random.below(6)) {
      case 0:
        changed = changed.slice(0, at) + random.pick(hostileTexts) + changed.slice(at);
        break;
      case 1:
        changed = changed.slice(0, at) + changed.slice(at + 1 + random.below(20));
        break;
      case 2:
        lines.splice(random.below(lines.length), 1);
        changed = lines.join("\n");
        break;
      case 3:
        lines.splice(random.below(lines.length), 0, random.pick(lines));
        changed = lines.join("\n");
        break;
      case 4: {
        const part = changed.slice(at, at + 1 + random.below(40));
        changed = changed.slice(0, at) + part.repeat(1 + random.below(50)) + changed.slice(at);
        break;
      }
      default:
        changed = Buffer.from(mutateBytes(encoder.encode(changed), random)).toString("utf8");
    }
  }
  return changed.slice(0, 200_000);
}

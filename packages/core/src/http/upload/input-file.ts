import type { InputFile } from "../../contract/files.ts";

/** A file that is in memory. */
export function createInputFile(
  about: { readonly name: string; readonly mimeType: string },
  bytes: Uint8Array<ArrayBuffer>,
): InputFile {
  return {
    ...about,
    size: bytes.byteLength,
    bytes: async () => bytes,
    stream: () =>
      new ReadableStream<Uint8Array>({
        start(controller) {
          if (bytes.byteLength > 0) controller.enqueue(bytes);
          controller.close();
        },
      }),
  };
}

// Control characters, those that make a name read differently from what it is, and those that cannot be seen. A joiner
// stays inside an emoji.
const misleading =
  /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u00ad\u061c\u115f\u1160\u180e\u200b\u200c\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e007f}]|(?<![\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f])\u200d|\u200d(?!\p{Extended_Pictographic})/gu;
const maxNameChars = 255;

/** A client's file name, harmless: the last part of its path, without control characters. */
export function sanitiseName(given: string | undefined | null, fallback: string): string {
  const base = (given ?? "").split(/[/\\]/).at(-1)!;
  const visible = base.replaceAll(misleading, "").trim();
  const name = Array.from(visible).slice(0, maxNameChars).join("").trimEnd();
  return name === "" || /^\.+$/.test(name) ? fallback : name;
}

/** How many bytes a base64 text holds; nothing when it is none: no white space, padded to the end. */
export function sizeOfBase64(text: string): number | undefined {
  if (text.length % 4 !== 0) return undefined;
  const padding = text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0;
  const digits = padding === 0 ? text : text.slice(0, -padding);
  // A search for what is wrong: a pattern of what is right would need a stack as long as the text.
  return /[^A-Za-z0-9+/]/.test(digits) ? undefined : (text.length / 4) * 3 - padding;
}

/** The bytes of a base64 text that was found right. */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const codes = /* @__PURE__ */ Uint8Array.from(digits, (digit) => digit.charCodeAt(0));
const padding = 61;

/** Bytes as base64. */
export function toBase64(bytes: Uint8Array): string {
  const { length } = bytes;
  const text = new Uint8Array(Math.ceil(length / 3) * 4);
  let to = 0;
  for (let at = 0; at < length; at += 3) {
    // Zero past the end.
    const group = (bytes[at]! << 16) | (bytes[at + 1]! << 8) | bytes[at + 2]!;
    text[to++] = codes[group >> 18]!;
    text[to++] = codes[(group >> 12) & 63]!;
    text[to++] = at + 1 < length ? codes[(group >> 6) & 63]! : padding;
    text[to++] = at + 2 < length ? codes[group & 63]! : padding;
  }
  return new TextDecoder().decode(text);
}

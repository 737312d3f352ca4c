import { createHash } from "node:crypto";
import { toPdf, toStream } from "./_pages.ts";

// What passwords are filled up with, by the PDF reference (3.5.2).
const padding = Buffer.from(
  "28bf4e5e4e758a4164004e56fffa01082e2e00b6d0683e802f0ca9fe6453697a",
  "hex",
);
const permissions = -4;
const id = Buffer.alloc(16, 7);

/** A PDF with the standard protection: 40 bits, RC4. */
export function makeLockedPdf(text: string, userPassword: string): Uint8Array {
  const user = padded(userPassword);
  const owner = rc4(md5(padded("the owner's")).subarray(0, 5), user);
  const bits = Buffer.alloc(4);
  bits.writeInt32LE(permissions);
  const key = md5(Buffer.concat([user, owner, bits, id])).subarray(0, 5);
  const check = rc4(key, padding);
  const contents = 5;
  // Every object has a key of its own.
  const own = md5(Buffer.concat([key, Buffer.from([contents, 0, 0, 0, 0])])).subarray(0, 10);
  const words = Buffer.from(`BT /F1 12 Tf 40 400 Td (${text}) Tj ET`);
  const pdf = toPdf([
    Buffer.from("<< /Type /Catalog /Pages 2 0 R >>"),
    Buffer.from("<< /Type /Pages /Count 1 /Kids [3 0 R] >>"),
    Buffer.from(
      "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 5 0 R /Resources << /Font << /F1 4 0 R >> >> >>",
    ),
    Buffer.from("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"),
    toStream(rc4(own, words)),
    Buffer.from(
      `<< /Filter /Standard /V 1 /R 2 /P ${permissions} /O <${owner.toString("hex")}> /U <${check.toString("hex")}> >>`,
    ),
  ]);
  const locked = `/Root 1 0 R /Encrypt 6 0 R /ID [<${id.toString("hex")}> <${id.toString("hex")}>]`;
  const whole = Buffer.from(pdf).toString("latin1").replace("/Root 1 0 R", locked);
  return new Uint8Array(Buffer.from(whole, "latin1"));
}

function padded(password: string): Buffer {
  return Buffer.concat([Buffer.from(password, "latin1"), padding]).subarray(0, 32);
}

function md5(bytes: Uint8Array): Buffer {
  return createHash("md5").update(bytes).digest();
}

// Node's OpenSSL has it no longer.
function rc4(key: Uint8Array, bytes: Uint8Array): Buffer {
  const state = Uint8Array.from({ length: 256 }, (_, at) => at);
  const swap = (a: number, b: number): void => {
    [state[a], state[b]] = [state[b]!, state[a]!];
  };
  for (let i = 0, j = 0; i < 256; i++) {
    j = (j + state[i]! + key[i % key.length]!) & 255;
    swap(i, j);
  }
  let [i, j] = [0, 0];
  return Buffer.from(
    bytes.map((byte) => {
      i = (i + 1) & 255;
      j = (j + state[i]!) & 255;
      swap(i, j);
      return byte ^ state[(state[i]! + state[j]!) & 255]!;
    }),
  );
}

import { afterAll, describe, expect, test } from "vitest";
import { strToU8, zipSync } from "fflate";
import { makeDocx, makePdf } from "./_make.ts";
import { makeLockedPdf } from "./_locked-pdf.ts";
import { makeOle } from "./_ole.ts";
import { drawText } from "./_png.ts";
import { base64, serveEcho, toAgui, types, ways } from "./_serve.ts";
import type { Sent } from "./_serve.ts";

const { handler, seen } = serveEcho();
afterAll(() => handler.close());

const pdf = await makePdf("Hello");
const docx = makeDocx({ text: "Hello" });

interface Refused {
  readonly what: string;
  readonly file: Sent;
  readonly status: number;
  readonly code: string;
  readonly detail: string;
}

const refused: readonly Refused[] = [
  {
    what: "an empty file",
    file: { name: "none.pdf", mimeType: types.pdf, bytes: new Uint8Array() },
    status: 400,
    code: "invalid-request",
    detail: '"none.pdf" is empty.',
  },
  {
    what: "an image that is said to be a PDF",
    file: { name: "a.pdf", mimeType: types.pdf, bytes: drawText("MOON") },
    status: 400,
    code: "unsupported-media-type",
    detail: '"a.pdf" is declared as application/pdf, but its content is image/png.',
  },
  {
    what: "a program that is said to be text",
    file: { name: "a.txt", mimeType: types.txt, bytes: strToU8("\x7fELF\x02\x01\x01\0\0\0") },
    status: 400,
    code: "unsupported-media-type",
    detail: '"a.txt" is declared as text/plain, but its content is of an unknown type.',
  },
  {
    what: "any zip that is said to be a Word document",
    file: { name: "a.docx", mimeType: types.docx, bytes: zipSync({ "a.exe": strToU8("MZ") }) },
    status: 400,
    code: "unsupported-media-type",
    detail: `"a.docx" is declared as ${types.docx}, but its content is application/zip.`,
  },
  {
    what: "a Word document that is said to be a workbook",
    file: { name: "a.xlsx", mimeType: types.xlsx, bytes: docx },
    status: 400,
    code: "unsupported-media-type",
    detail: `"a.xlsx" is declared as ${types.xlsx}, but its content is ${types.docx}.`,
  },
  {
    what: "a damaged PDF",
    file: { name: "torn.pdf", mimeType: types.pdf, bytes: strToU8("%PDF-1.4 and no more") },
    status: 400,
    code: "invalid-request",
    detail: '"torn.pdf" is damaged and cannot be read.',
  },
  {
    what: "a Word document with a damaged part",
    file: { name: "torn.docx", mimeType: types.docx, bytes: corrupted(docx) },
    status: 400,
    code: "invalid-request",
    detail: '"torn.docx" is damaged and cannot be read.',
  },
  {
    what: "a zip with a password",
    file: { name: "locked.docx", mimeType: types.docx, bytes: locked(docx) },
    status: 400,
    code: "invalid-request",
    detail: '"locked.docx" is protected by a password.',
  },
  {
    what: "an Office file with a password",
    file: {
      name: "secret.docx",
      mimeType: types.docx,
      bytes: makeOle("EncryptionInfo", "EncryptedPackage"),
    },
    status: 400,
    code: "invalid-request",
    detail: '"secret.docx" is protected by a password.',
  },
  {
    what: "a workbook of before 2007",
    file: { name: "old.xlsx", mimeType: types.xlsx, bytes: makeOle("Workbook") },
    status: 400,
    code: "unsupported-media-type",
    detail: '"old.xlsx" has an old Office format; save it as .docx, .xlsx or .pptx.',
  },
  {
    what: "a PDF with a password",
    file: { name: "locked.pdf", mimeType: types.pdf, bytes: makeLockedPdf("Hidden", "secret") },
    status: 400,
    code: "invalid-request",
    detail: '"locked.pdf" is protected by a password.',
  },
  {
    what: "a PDF that is said to be an image",
    file: { name: "a.png", mimeType: types.png, bytes: pdf },
    status: 400,
    code: "unsupported-media-type",
    detail: '"a.png" is declared as image/png, but its content is application/pdf.',
  },
];

describe.each(Object.keys(ways))("over %s", (way) => {
  test.each(refused)("refuses $what, by its name", async ({ file, status, code, detail }) => {
    const response = await handler.fetch(ways[way]!("Read it", [file]));
    const body: unknown = await response.json();
    expect(response.status).toBe(status);
    expect(body).toMatchObject({ code, detail });
  });
});

test("reads a PDF that takes a password only to change it", async () => {
  const file = { name: "open.pdf", mimeType: types.pdf, bytes: makeLockedPdf("Not hidden", "") };
  const response = await handler.fetch(ways["REST with a form"]!("Read it", [file]));
  expect(response.status, await response.clone().text()).toBe(200);
  await response.text();
  expect(seen.messages.at(-1)).toMatchObject({
    content: "Read it\n\n## File: open.pdf\nNot hidden",
  });
});

test("refuses a type that is not on the list", async () => {
  const file = { name: "a.wav", mimeType: "audio/wav", bytes: strToU8("RIFF....WAVE") };
  const response = await handler.fetch(ways["AG-UI"]!("Listen", [file]));
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({
    code: "unsupported-media-type",
    detail: 'Unsupported MIME type: audio/wav ("a.wav")',
  });
});

test("takes a type that the host has added, and passes it through", async () => {
  const own = serveEcho({ mimeTypes: ["audio/wav"] });
  const file = { name: "a.wav", mimeType: "audio/wav", bytes: strToU8("RIFF....WAVE") };
  for (const way of ["AG-UI", "REST with a form", "REST with base64"]) {
    const response = await own.handler.fetch(ways[way]!("Listen", [file]));
    expect(response.status, await response.clone().text()).toBe(200);
    await response.text();
    expect(own.seen.files).toMatchObject([{ name: "a.wav", mimeType: "audio/wav" }]);
  }
  await own.handler.close();
});

test("lets the host read a type its own way", async () => {
  const own = serveEcho({
    extractors: { "application/json": async (file) => `${file.name} has ${file.size} bytes` },
  });
  const file = { name: "a.json", mimeType: "application/json", bytes: strToU8("{}") };
  await (await own.handler.fetch(ways["AG-UI"]!("Read", [file]))).text();
  expect(own.seen.messages.at(-1)).toMatchObject({
    content: "Read\n\n## File: a.json\na.json has 2 bytes",
  });
  await own.handler.close();
});

test("finds out the type of what a client sends as mere bytes", async () => {
  const octets = "application/octet-stream";
  await (
    await handler.fetch(ways["AG-UI"]!("Read", [{ name: "x", mimeType: octets, bytes: pdf }]))
  ).text();
  expect(seen.files).toMatchObject([{ name: "x", mimeType: types.pdf }]);
  expect(seen.messages.at(-1)).toMatchObject({ content: "Read\n\n## File: x\nHello" });
});

test("never lets a client's file name be a path, or hide what it is", async () => {
  const name = "../../etc/\u202epass\u0000wd.txt";
  const file = { name, mimeType: types.txt, bytes: strToU8("root") };
  await (await handler.fetch(ways["AG-UI"]!("Read", [file]))).text();
  expect(seen.files).toMatchObject([{ name: "passwd.txt" }]);
});

test("refuses what is not base64", async () => {
  const source = { type: "data", value: "%%%", mimeType: types.txt };
  const response = await handler.fetch(
    toAgui([{ type: "document", source, metadata: { filename: "a.txt" } }]),
  );
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ detail: '"a.txt" is not valid base64.' });
});

test("takes ten files with a message, and not eleven", async () => {
  const files = (count: number): Sent[] =>
    Array.from({ length: count }, (_, at) => ({
      name: `${at}.txt`,
      mimeType: types.txt,
      bytes: strToU8(`${at}`),
    }));
  for (const way of Object.values(ways)) {
    const taken = await handler.fetch(way("Read", files(10)));
    await taken.text();
    expect(taken.status).toBe(200);
    expect((await handler.fetch(way("Read", files(11)))).status).toBe(400);
  }
});

test("takes so many bytes in messages, and not one more", async () => {
  const own = serveEcho({}, { limits: { inlineFileBytes: 1000, fileBytes: 800 } });
  const file = (size: number): Sent => ({
    name: "a.txt",
    mimeType: types.txt,
    bytes: new Uint8Array(size).fill(65),
  });
  for (const way of ["AG-UI", "REST with base64", "useChat"]) {
    const send = async (...sizes: number[]): Promise<number> => {
      const response = await own.handler.fetch(ways[way]!("Read", sizes.map(file)));
      await response.text();
      return response.status;
    };
    expect(await send(800, 200)).toBe(200);
    expect(await send(800, 201)).toBe(413);
    expect(await send(801)).toBe(413);
  }
  await own.handler.close();
});

test("cuts what is too long, and marks it for the agent and in the log", async () => {
  const warnings: (string | undefined)[] = [];
  const logger = {
    debug() {},
    info() {},
    error() {},
    warn: (_: object, m?: string) => void warnings.push(m),
  };
  const own = serveEcho({}, { logger, limits: { messageChars: 200 } });
  const file = {
    name: "long.pdf",
    mimeType: types.pdf,
    bytes: await makePdf(...Array.from({ length: 8 }, () => "x".repeat(40))),
  };
  await (await own.handler.fetch(ways["AG-UI"]!("Read", [file]))).text();
  const [message] = own.seen.messages;
  expect(message!.content).toHaveLength(200);
  expect(message!.content).toMatch(/^Read\n\n## File: long.pdf\n[x\n]+\n\n\[… truncated\]$/);
  expect(warnings).toContain("The text of the files was truncated.");
  await own.handler.close();
});

test("leaves the messages that a client keeps as they were sent", async () => {
  const threadId = `kept-${Math.random()}`;
  const content = [
    { type: "text", text: "Read" },
    {
      type: "document",
      source: { type: "data", value: base64(pdf), mimeType: types.pdf },
      metadata: { filename: "a.pdf" },
    },
  ];
  await (await handler.fetch(toAgui(content, { threadId }))).text();
  expect(seen.messages[0]).toMatchObject({ content: "Read\n\n## File: a.pdf\nHello" });
  const session = await handler.sessions.get({ principal: "", threadId });
  expect(session?.messages[0]).toMatchObject({ content });
});

test("remembers the text of a file for the next turn where the server keeps the messages", async () => {
  const file = { name: "a.pdf", mimeType: types.pdf, bytes: pdf };
  const first = await handler.fetch(ways["REST with a form"]!("Read", [file]));
  const { session_id } = (await first.json()) as { session_id: string };
  const body = JSON.stringify({ message: "And?", session_id });
  const headers = { "content-type": "application/json" };
  const request = new Request("http://x/agent/echo/chat", { method: "POST", headers, body });
  await (await handler.fetch(request)).json();
  expect(seen.messages[0]).toMatchObject({ content: "Read\n\n## File: a.pdf\nHello" });
  expect(seen.messages.at(-1)).toMatchObject({ content: "And?" });
  expect(seen.files).toEqual([]);
});

test("reads the text of Windows and of UTF-16 too", async () => {
  const send = async (bytes: Uint8Array): Promise<unknown> => {
    await (
      await handler.fetch(ways["AG-UI"]!("", [{ name: "a.txt", mimeType: types.txt, bytes }]))
    ).text();
    return seen.messages.at(-1)!.content;
  };
  expect(await send(new Uint8Array([0x47, 0x72, 0xfc, 0xdf, 0x65]))).toContain("Grüße");
  expect(await send(new Uint8Array(Buffer.from("\ufeffGrüße", "utf16le")))).toContain("Grüße");
  expect(await send(new Uint8Array(Buffer.from("\ufeffGrüße", "utf8")))).toContain("\nGrüße");
});

// In the middle of what was packed, so that the directory is still right.
function corrupted(whole: Uint8Array): Uint8Array {
  const bytes = whole.slice();
  const at = Buffer.from(bytes).indexOf("word/document.xml") + 60;
  bytes.fill(0xff, at, at + 40);
  return bytes;
}

function locked(whole: Uint8Array): Uint8Array {
  const bytes = Buffer.from(whole);
  for (let at = bytes.indexOf("PK\x01\x02"); at >= 0; at = bytes.indexOf("PK\x01\x02", at + 4)) {
    bytes[at + 8]! |= 1;
  }
  return new Uint8Array(bytes);
}

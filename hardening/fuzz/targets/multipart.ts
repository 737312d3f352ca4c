// Forms with files: to the REST protocol, and to the uploads.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAgentHandler } from "@holodeck/agui";
import { silentLogger } from "@holodeck/agui-core";
import { extractFiles } from "@holodeck/agui-files";
import { createHttpFeed, decodeCase, encodeCase } from "../http-case.ts";
import { mutateBytes, mutateText } from "../mutate.ts";
import type { Random } from "../random.ts";
import type { Target } from "../target.ts";

const boundaries = ["x", "----WebKitFormBoundary7MA4YWxk", "'()+_,-./:=?", "-".repeat(70)];

function part(random: Random, boundary: string): string {
  const name = random.pick(["message", "files", "file", "session_id", "metadata", "", 'a"b', "é"]);
  const file = random.pick([
    "",
    '; filename="a.txt"',
    '; filename="../a"',
    "; filename*=UTF-8''%41.txt",
  ]);
  const type = random.pick(["", "content-type: text/plain\r\n", "content-type: image/png\r\n"]);
  const content = random.pick([
    "hi",
    "",
    `\r\n--${boundary.slice(1)}`,
    "\r\n--",
    "x".repeat(3_000),
    '{"a":1}',
  ]);
  return `--${boundary}\r\ncontent-disposition: form-data; name="${name}"${file}\r\n${type}\r\n${content}\r\n`;
}

function toForm(random: Random): { type: string; bytes: Uint8Array } {
  const boundary = random.pick(boundaries);
  const parts = Array.from({ length: random.below(8) }, () => part(random, boundary));
  const text = `${parts.join("")}--${boundary}--\r\n`;
  const type = `multipart/form-data; boundary="${boundary}"`;
  return { type, bytes: new Uint8Array(Buffer.from(text, "utf8")) };
}

const toHeader = (text: string): string => text.replaceAll(/[^\x20-\x7e]/g, "?");

export const multipart: Target = {
  name: "multipart",
  extension: "json",
  async open() {
    const folder = mkdtempSync(join(tmpdir(), "agui-fuzz-uploads-"));
    const handler = createAgentHandler(async () => "ok", {
      logger: silentLogger,
      authenticate: () => ({ id: "ann" }),
      files: extractFiles({ uploads: { store: "sessions" }, tempDir: folder }),
      limits: { memoryBytes: 64 << 20 },
    });
    const places = ["/agent/default/chat", "/agent/default/chat/stream", "/files"];
    const operations: Record<string, string> = {
      "/agent/default/chat": "POST /agent/{name}/chat",
      "/agent/default/chat/stream": "POST /agent/{name}/chat/stream",
      "/files": "POST /files",
    };
    const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64");
    return {
      generate(random, corpus) {
        const path = random.pick(places);
        const operation = operations[path]!;
        const known = decodeCase(random.pick(corpus));
        const { type, bytes } = random.chance(0.6)
          ? toForm(random)
          : {
              type: known.headers["content-type"]!,
              bytes: new Uint8Array(Buffer.from(known.bytes!, "base64")),
            };
        const sent = random.chance(0.6) ? mutateBytes(bytes, random) : bytes;
        const contentType = random.chance(0.1) ? toHeader(mutateText(type, random)) : type;
        return encodeCase({
          operation,
          path,
          headers: { "content-type": contentType },
          bytes: base64(sent),
        });
      },
      feed: await createHttpFeed(handler),
      async close() {
        await handler.close({ timeoutMs: 0 });
        rmSync(folder, { recursive: true, force: true });
      },
    };
  },
};

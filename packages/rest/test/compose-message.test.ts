import type { InputFile } from "@holodeck/agui-core";
import { describe, expect, test } from "vitest";
import { composeMessage } from "../src/index.ts";
import { chat, serveRest } from "./_kit.ts";

const options = { maxChars: 1_000, inlineBytes: 10 };

function toFile(text: string, name: string, mimeType: string): InputFile {
  const blob = new Blob([text]);
  return {
    name,
    mimeType,
    size: blob.size,
    bytes: async () => new Uint8Array(await blob.arrayBuffer()),
    stream: () => blob.stream(),
  };
}

describe("composeMessage", () => {
  test("leaves a message without files alone", async () => {
    expect(await composeMessage(" Hi ", [], options)).toBe(" Hi ");
  });

  test("puts text files below the message, a line apart", async () => {
    const files = [toFile("one", "a.txt", "text/plain"), toFile("two", "b.md", "text/markdown")];
    expect(await composeMessage("Hi", files, options)).toBe(
      "Hi\n\n## File: a.txt\none\n## File: b.md\ntwo",
    );
  });

  test("mentions what is too large to be inside, and still takes what fits", async () => {
    const files = [
      toFile("12345678", "a.png", "image/png"),
      toFile("12345678", "b.pdf", "application/pdf"),
      toFile("12", "c.pdf", "application/pdf"),
    ];
    expect(await composeMessage("Hi", files, options)).toMatchObject([
      { type: "text", text: "Hi\n\n## File: b.pdf\n[application/pdf, 8 bytes]" },
      { type: "image", source: { type: "data", value: btoa("12345678"), mimeType: "image/png" } },
      { type: "document", metadata: { filename: "c.pdf" } },
    ]);
  });

  test("carries bytes of any value, over several pieces", async () => {
    const bytes = Uint8Array.from({ length: 100_000 }, (_, index) => index % 256);
    const file: InputFile = {
      ...toFile("", "a.png", "image/png"),
      size: bytes.length,
      bytes: async () => bytes,
    };
    const content = await composeMessage("Hi", [file], { ...options, inlineBytes: 1e6 });
    expect(content[1]).toMatchObject({ source: { value: Buffer.from(bytes).toString("base64") } });
  });

  test("cuts what is too long, marks it, and never in the middle of a character", async () => {
    let cuts = 0;
    const onTruncate = (): void => void cuts++;
    const limits = { maxChars: 60, inlineBytes: 0, onTruncate };
    for (const shift of ["", "x"]) {
      const file = toFile(`${shift}${"🌦".repeat(100)}`, "a.txt", "text/plain");
      const text = (await composeMessage("Hi", [file], limits)) as string;
      expect(text).toMatch(/^Hi\n\n## File: a\.txt\nx?(🌦)+\n\n\[… truncated\]$/u);
      expect(text.length).toBeGreaterThan(58);
      expect(text.length).toBeLessThanOrEqual(60);
    }
    expect(cuts).toBe(2);
  });

  test("can be replaced", async () => {
    const server = await serveRest(async ({ messages: [first] }) => first?.content as string, {
      rest: { composeMessage: (message, files) => `${message} with ${files.length}` },
    });
    const files = [{ content: "YQ==", mime_type: "text/plain" }];
    expect((await chat(server, { message: "Hi", files })).content).toBe("Hi with 1");
  });

  test("warns the log, not the client, of a cut", async () => {
    const server = await serveRest(async ({ messages: [first] }) => first?.content as string, {
      limits: { messageChars: 100 },
    });
    const files = [{ content: btoa("x".repeat(200)), mime_type: "text/plain" }];
    const { content } = await chat(server, { message: "Hi", files });
    expect(content).toHaveLength(100);
    expect(content.endsWith("[… truncated]")).toBe(true);
    expect(server.logged).toContainEqual({
      level: "warn",
      message: "The text of the files was truncated.",
      requestId: expect.any(String),
    });
  });
});

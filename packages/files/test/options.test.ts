import { describe, expect, test } from "vitest";
import { extractFiles } from "../src/index.ts";

describe("extractFiles names a wrong option and what is right", () => {
  test.for<[unknown, string]>([
    [{ timeoutMS: 1 }, "timeoutMS is not an option of extractFiles. Did you mean timeoutMs?"],
    ["ocr", 'The options of extractFiles must be an object, not "ocr".'],
    [{ ocr: "eng" }, 'The options of extractFiles({ ocr }) must be an object, not "eng".'],
    [
      { ocr: { lang: "eng" } },
      "lang is not an option of extractFiles({ ocr }). Did you mean language? Expected one of: language, langPath.",
    ],
    [
      { ocr: { language: "../../etc" } },
      'extractFiles({ ocr.language }) must be a language like "eng", not "../../etc".',
    ],
    [
      { mimeTypes: "audio/wav" },
      'extractFiles({ mimeTypes }) must be a list of types, such as ["audio/wav"], not "audio/wav".',
    ],
    [
      { mimeTypes: ["wav"] },
      'extractFiles({ mimeTypes }) must be of types like "audio/wav", not "wav".',
    ],
    [
      { extractors: { "application/json": "parse" } },
      'extractFiles({ extractors["application/json"] }) must be a function, not "parse".',
    ],
    [{ timeoutMs: 0 }, "extractFiles({ timeoutMs }) must be a number above 0, not 0."],
    [{ memoryBytes: "1GB" }, 'extractFiles({ memoryBytes }) must be a number above 0, not "1GB".'],
    [{ inflatedBytes: -1 }, "extractFiles({ inflatedBytes }) must be a number above 0, not -1."],
    [{ spoolBytes: NaN }, "extractFiles({ spoolBytes }) must be a number above 0, not NaN."],
    [{ tempDir: 7 }, "extractFiles({ tempDir }) must be the path of a folder, not 7."],
    [
      { resolveUrl: true },
      "The options of extractFiles({ resolveUrl }) must be an object, not true.",
    ],
    [
      { resolveUrl: { allow: "https://a.test" } },
      'extractFiles({ resolveUrl.allow }) must be a list of origins, not "https://a.test".',
    ],
    [
      { resolveUrl: { allow: ["https://a.test/files"] } },
      'extractFiles({ resolveUrl.allow }) must be of origins like "https://files.example.com", not "https://a.test/files".',
    ],
    [
      { resolveFileId: {} },
      "extractFiles({ resolveFileId }) must be a function, not an object with the keys [].",
    ],
    [
      { uploads: "/files" },
      'The options of extractFiles({ uploads }) must be an object, not "/files".',
    ],
    [
      { uploads: { path: "files" } },
      'extractFiles({ uploads.path }) must be a path that starts with "/", not "files".',
    ],
    [
      { uploads: { store: "redis" } },
      'extractFiles({ uploads.store }) must be "disk" or "sessions", not "redis".',
    ],
    [
      { uploads: { store: "sessions", dir: "/tmp" } },
      'extractFiles({ uploads.dir }) must be left out with store: "sessions", not "/tmp".',
    ],
    [
      { uploads: { dir: "" } },
      'extractFiles({ uploads.dir }) must be the path of a folder, not "".',
    ],
    [{ uploads: { ttlMs: 0 } }, "extractFiles({ uploads.ttlMs }) must be a number above 0, not 0."],
    [
      { uploads: { maxBytes: "1 GB" } },
      'extractFiles({ uploads.maxBytes }) must be a number above 0, not "1 GB".',
    ],
  ])("%j", ([options, message]) => {
    let error: unknown;
    try {
      extractFiles(options as never);
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toBeInstanceOf(TypeError);
    const said = (error as TypeError).message;
    expect(said).toContain(message);
    expect(said).toMatch(/\.$/);
  });
});

import { createAgentHandler } from "@holodeck/agui";
import { silentLogger } from "@holodeck/agui-core";
import { describe, expect, test } from "vitest";
import { rest, SUPPORTED_MIME_TYPES } from "../src/index.ts";
import { problemOf } from "./_kit.ts";

describe("types of files", () => {
  test("are the documented ones", () => {
    const office = "application/vnd.openxmlformats-officedocument";
    expect([...SUPPORTED_MIME_TYPES].toSorted()).toEqual(
      [
        "image/png",
        "image/jpeg",
        "image/gif",
        "image/webp",
        "application/pdf",
        `${office}.wordprocessingml.document`,
        `${office}.spreadsheetml.sheet`,
        `${office}.presentationml.presentation`,
        "text/plain",
        "text/csv",
        "text/markdown",
      ].toSorted(),
    );
  });
});

describe("a form", () => {
  const MiB = 1024 * 1024;
  const chunk = new Uint8Array(MiB);
  const head =
    '--b\r\ncontent-disposition: form-data; name="files"; filename="a.pdf"\r\n' +
    "content-type: application/pdf\r\n\r\n";
  const message = '--b\r\ncontent-disposition: form-data; name="message"\r\n\r\nHi\r\n';

  /** Files of so many bytes each, made while they are read. */
  function* parts(sizes: readonly number[]): Generator<Uint8Array, void, undefined> {
    yield Buffer.from(message);
    for (const size of sizes) {
      yield Buffer.from(head);
      for (let left = size; left > 0; left -= MiB) yield chunk.subarray(0, Math.min(left, MiB));
      yield Buffer.from("\r\n");
    }
    yield Buffer.from("--b--\r\n");
  }

  function toStream(chunks: Iterator<Uint8Array>): ReadableStream<Uint8Array> {
    return new ReadableStream({
      pull(controller) {
        const { done, value } = chunks.next();
        if (done) controller.close();
        else controller.enqueue(value);
      },
    });
  }

  test.for<[string, number[], string | undefined]>([
    ["50 MB in one file", [50 * MiB], undefined],
    ["one byte more in a file", [50 * MiB + 1], `A file is larger than ${50 * MiB} bytes.`],
    [
      "more than 100 MB in all",
      [50 * MiB, 50 * MiB, 1],
      `The upload is larger than ${100 * MiB} bytes.`,
    ],
  ])("may bring 50 MB a file and 100 MB in all by default: %s", async (given) => {
    const [, sizes, detail] = given;
    const seen: number[] = [];
    const handler = createAgentHandler(
      { helper: async (_input, { files }) => void seen.push(...files.map(({ size }) => size)) },
      { protocols: [rest()], logger: silentLogger },
    );
    const response = await handler.fetch(
      new Request("http://test.local/agent/helper/chat", {
        method: "POST",
        headers: { "content-type": "multipart/form-data; boundary=b" },
        body: toStream(parts(sizes)),
        duplex: "half",
      } as RequestInit),
    );
    expect(response.status).toBe(detail === undefined ? 200 : 413);
    if (detail !== undefined) expect((await problemOf(response)).detail).toBe(detail);
    expect(seen).toEqual(detail === undefined ? sizes : []);
    await handler.close();
  });
});

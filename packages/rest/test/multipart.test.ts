import { isAgentError } from "@holodeck/agui-core";
import fc from "fast-check";
import { expect, test } from "vitest";
import { readMultipart } from "../src/rest/read-multipart.ts";

async function* cut(whole: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < whole.length; at += size) yield whole.slice(at, at + size);
}

/** The sizes of the files that were taken, or why they were not. */
async function sizesOf(
  sizes: readonly number[],
  limits: { files: number; fileBytes: number; uploadBytes: number },
  piece: number,
): Promise<readonly number[] | string> {
  const form = new FormData();
  for (const size of sizes) {
    form.append(
      "files",
      new Blob([new Uint8Array(size).fill(65)], { type: "text/plain" }),
      "a.txt",
    );
  }
  const response = new Response(form);
  const type = response.headers.get("content-type")!;
  const whole = new Uint8Array(await response.arrayBuffer());
  const call = {
    header: (name: string) => (name === "content-type" ? type : undefined),
    bytes: () => cut(whole, piece),
  };
  try {
    const { files } = await readMultipart(call, limits, { accepts: () => true });
    return files.map(({ size }) => size);
  } catch (error) {
    if (isAgentError(error)) return error.code;
    throw error;
  }
}

test("the limits of a form are exact, in whatever pieces it comes", async () => {
  const limits = fc.record({
    files: fc.integer({ min: 1, max: 4 }),
    fileBytes: fc.integer({ min: 1, max: 50 }),
    uploadBytes: fc.integer({ min: 1, max: 120 }),
  });
  const sizes = fc.array(fc.integer({ min: 1, max: 52 }), { maxLength: 5 });
  await fc.assert(
    fc.asyncProperty(
      sizes,
      limits,
      fc.integer({ min: 1, max: 400 }),
      async (given, bounds, piece) => {
        const sum = given.reduce((total, size) => total + size, 0);
        const isSmall =
          given.every((size) => size <= bounds.fileBytes) && sum <= bounds.uploadBytes;
        const answer = await sizesOf(given, bounds, piece);
        if (isSmall && given.length <= bounds.files) expect(answer).toEqual(given);
        else if (isSmall) expect(answer).toBe("invalid-request");
        // Whichever of the two comes first.
        else expect(["payload-too-large", "invalid-request"]).toContain(answer);
        if (!isSmall && given.length <= bounds.files) expect(answer).toBe("payload-too-large");
      },
    ),
    { numRuns: Number(process.env.MULTIPART_RUNS ?? 200) },
  );
});

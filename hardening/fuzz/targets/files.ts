// Each kind of file that text is extracted from. Office files are changed inside of their archive, too.
import { createAgentHandler } from "@holodeck/agui";
import { silentLogger } from "@holodeck/agui-core";
import { extractFiles } from "@holodeck/agui-files";
import { unzipSync, zipSync } from "fflate";
import { createHttpFeed, encodeCase } from "../http-case.ts";
import { mutateBytes, mutateText } from "../mutate.ts";
import type { Random } from "../random.ts";
import type { Target } from "../target.ts";

const office = "application/vnd.openxmlformats-officedocument";

const kinds: Readonly<Record<string, string>> = {
  pdf: "application/pdf",
  docx: `${office}.wordprocessingml.document`,
  xlsx: `${office}.spreadsheetml.sheet`,
  pptx: `${office}.presentationml.presentation`,
  png: "image/png",
  csv: "text/csv",
};

function mutateFile(bytes: Uint8Array, random: Random): Uint8Array {
  if (random.chance(0.25)) return mutateBytes(bytes, random);
  const entries = unzip(bytes);
  if (!entries) return mutateBytes(bytes, random);
  const names = Object.keys(entries);
  const name = random.pick(names);
  const text = Buffer.from(entries[name]!).toString("utf8");
  const changed = random.chance(0.5) ? repeatTag(text, random) : mutateText(text, random);
  const files = { ...entries, [name]: new Uint8Array(Buffer.from(changed, "utf8")) };
  return zipSync(files);
}

function unzip(bytes: Uint8Array): Record<string, Uint8Array> | undefined {
  try {
    const entries = unzipSync(bytes);
    return Object.keys(entries).length > 0 ? entries : undefined;
  } catch {
    return undefined;
  }
}

// What is opened and not closed, or closed and not opened, many times: readers that look ahead become slow.
function repeatTag(text: string, random: Random): string {
  const tags = [...text.matchAll(/<[^>]*>/g)];
  if (tags.length === 0) return mutateText(text, random);
  const { 0: tag, index } = random.pick(tags);
  const times = random.pick([2, 50, 5_000]);
  return text.slice(0, index) + tag.repeat(times) + text.slice(index + tag.length);
}

function toTarget(name: string, mimeType: string): Target {
  return {
    name,
    extension: name,
    async open() {
      const handler = createAgentHandler(async () => "ok", {
        logger: silentLogger,
        files: extractFiles({ timeoutMs: 20_000 }),
        limits: { memoryBytes: 64 << 20 },
      });
      const feed = await createHttpFeed(handler);
      return {
        generate: (random, corpus) => mutateFile(random.pick(corpus), random),
        async feed(input) {
          const content = Buffer.from(input).toString("base64");
          const files = [{ content, mime_type: mimeType, filename: `a.${name}` }];
          const body = JSON.stringify({ message: "Read", files });
          const headers = { "content-type": "application/json" };
          const path = "/agent/default/chat";
          const operation = "POST /agent/{name}/chat";
          return feed(encodeCase({ operation, path, headers, body }));
        },
        close: () => handler.close({ timeoutMs: 0 }),
      };
    },
  };
}

/** A target for each kind of file. */
export const fileTargets: readonly Target[] = Object.entries(kinds).map(([name, type]) =>
  toTarget(name, type),
);

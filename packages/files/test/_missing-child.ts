// Runs from a folder that has the sources and none of the readers; see missing.test.ts.
import { readFileSync } from "node:fs";
import { createAgentHandler } from "@holodeck/agui";
import type { FileProcessor } from "@holodeck/agui-core";

const [source, path] = process.argv.slice(2) as [string, string];
const { extractFiles } = (await import(source)) as {
  extractFiles(options: { ocr: boolean }): FileProcessor;
};
const logged: string[] = [];
const handler = createAgentHandler(async () => "done", {
  logger: {
    debug() {},
    info() {},
    warn() {},
    error: (fields) => void logged.push(String((fields as { error?: Error }).error?.message)),
  },
  files: extractFiles({ ocr: true }),
});
const answers: unknown[] = [];
for (const file of JSON.parse(readFileSync(path, "utf8")) as object[]) {
  const response = await handler.fetch(
    new Request("http://x/agent/default/chat", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ message: "Read", files: [file] }),
    }),
  );
  answers.push({ status: response.status, body: await response.json(), logged: logged.splice(0) });
}
await handler.close();
process.stdout.write(JSON.stringify(answers));

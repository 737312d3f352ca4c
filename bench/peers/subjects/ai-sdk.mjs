// AI SDK 6: `createUIMessageStream` and `pipeUIMessageStreamToResponse` on `node:http`.
import { createServer } from "node:http";
import { createUIMessageStream, pipeUIMessageStreamToResponse } from "ai";
import { listen, readBody, words } from "./_work.mjs";

export async function start() {
  const answer = async (request, response) => {
    const { runId } = await readBody(request);
    const id = `${runId}-1`;
    const stream = createUIMessageStream({
      async execute({ writer }) {
        writer.write({ type: "start", messageId: runId });
        writer.write({ type: "text-start", id });
        for await (const delta of words()) writer.write({ type: "text-delta", id, delta });
        writer.write({ type: "text-end", id });
        writer.write({ type: "finish" });
      },
    });
    pipeUIMessageStreamToResponse({ response, stream });
  };
  return listen(createServer((request, response) => void answer(request, response)));
}

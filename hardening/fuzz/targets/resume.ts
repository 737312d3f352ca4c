// The ways to attach to a run again, with offsets, ids and headers that no server gave out.
import { createHttpFeed, decodeCase, encodeCase } from "../http-case.ts";
import { hostileTexts } from "../mutate.ts";
import type { Random } from "../random.ts";
import type { Target } from "../target.ts";
import { createServer, fillPath, operationsOf } from "./bodies.ts";

const run = { threadId: "t-1", runId: "r-1", protocolVersion: "1.0" };
const message = { id: "m", role: "user", content: "hi" };

function offsetOf(random: Random): string {
  switch (random.below(5)) {
    case 0:
      return random.pick(hostileTexts);
    case 1:
      return `r-1:${random.below(20)}`;
    case 2:
      return String(random.pick([-1, 0, 1, 2.5, 1e21, Number.MAX_SAFE_INTEGER, 2 ** 53]));
    case 3:
      return `${"0".repeat(random.below(3_000))}${random.below(10)}`;
    default:
      return String(random.below(20));
  }
}

const isAttach = /^(GET .*(events|stream|\/chat)|POST \/agui.*)$/;

// `fetch` sends no header with a line break or beyond Latin-1: they are replaced, and sent in the query instead.
const toHeader = (text: string): string => text.replaceAll(/[^\x20-\x7e]/g, "?");

export const resume: Target = {
  name: "resume",
  extension: "json",
  async open() {
    const handler = createServer();
    const operations = operationsOf(await handler.openapi()).filter(({ name }) =>
      isAttach.test(name),
    );
    const body = JSON.stringify({ ...run, messages: [message] });
    const headers = { "content-type": "application/json" };
    const first = new Request("http://test.local/agui", { method: "POST", headers, body });
    await (await handler.fetch(first)).text();
    return {
      generate(random, corpus) {
        const known = decodeCase(random.pick(corpus));
        const operation = random.pick(operations);
        const one = random.chance(0.4)
          ? known
          : {
              operation: operation.name,
              path: fillPath(operation, random),
              headers: {},
              ...(operation.schema === undefined ? {} : { body }),
            };
        const place = one.path.includes("?") ? "&" : "?";
        const path = random.chance(0.4)
          ? `${one.path}${place}offset=${encodeURIComponent(offsetOf(random).replaceAll(/\p{Cs}/gu, "?"))}`
          : one.path;
        const given: Record<string, string> = {};
        if (random.chance(0.7)) given["last-event-id"] = toHeader(offsetOf(random));
        return encodeCase({ ...one, path, headers: { ...one.headers, ...headers, ...given } });
      },
      feed: await createHttpFeed(handler),
      close: () => handler.close({ timeoutMs: 0 }),
    };
  },
};

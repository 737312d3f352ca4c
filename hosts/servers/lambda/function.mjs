import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createApp } from "../../app.node.mjs";

const app = createApp("/api");

/** A function with a URL, invoked with RESPONSE_STREAM. */
export const handler = globalThis.awslambda.streamifyResponse(async (event, stream) => {
  const { method } = event.requestContext.http;
  const url = `https://${event.requestContext.domainName}${event.rawPath}?${event.rawQueryString}`;
  const body = event.body && Buffer.from(event.body, event.isBase64Encoded ? "base64" : "utf8");
  const response = await app.fetch(new Request(url, { method, headers: event.headers, body }));
  const head = { statusCode: response.status, headers: Object.fromEntries(response.headers) };
  const out = globalThis.awslambda.HttpResponseStream.from(stream, head);
  if (response.body) await pipeline(Readable.fromWeb(response.body), out);
  else out.end();
});

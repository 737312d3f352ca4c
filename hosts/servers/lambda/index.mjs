// AWS Lambda's response streaming, as far as its documentation describes it: `awslambda.streamifyResponse`, a writable
// stream for the response, and `HttpResponseStream.from` for its head. The service does not report clients that leave.
import { createServer } from "node:http";
import { PassThrough } from "node:stream";

globalThis.awslambda = {
  streamifyResponse: (handler) => handler,
  HttpResponseStream: {
    from(stream, head) {
      stream.emit("head", head);
      return stream;
    },
  },
};
const { handler } = await import("./function.mjs");

createServer(async (request, response) => {
  const pieces = [];
  for await (const piece of request) pieces.push(piece);
  const { pathname, search } = new URL(request.url, "http://localhost");
  const body = Buffer.concat(pieces);
  const event = {
    version: "2.0",
    rawPath: pathname,
    rawQueryString: search.slice(1),
    headers: Object.fromEntries(Object.entries(request.headers).map(([k, v]) => [k, String(v)])),
    requestContext: { http: { method: request.method }, domainName: "function.test" },
    body: body.length > 0 ? body.toString("base64") : undefined,
    isBase64Encoded: true,
  };
  const stream = new PassThrough();
  stream.once("head", ({ statusCode, headers }) => response.writeHead(statusCode, headers));
  stream.on("data", (chunk) => {
    if (!response.write(chunk) && !response.destroyed) stream.pause();
  });
  response.on("drain", () => stream.resume());
  // The function goes on, and what it writes is dropped.
  response.on("close", () => stream.resume());
  stream.on("end", () => response.end());
  await handler(event, stream, {});
}).listen(Number(process.env.PORT), "127.0.0.1");

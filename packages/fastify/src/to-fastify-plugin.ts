import { assertHandler } from "@holodeck/agui-core";
import { stripMount } from "@holodeck/agui-core/internal";
import type { ExchangeHandler } from "@holodeck/agui-core";
import { toNodeHandler } from "@holodeck/agui-node";
import type { NodeExchangeOptions } from "@holodeck/agui-node";
import type { FastifyPluginCallback, FastifyReply, FastifyRequest } from "fastify";

/**
 * Serves a handler from Fastify 4 or 5, under the prefix it is registered with. What it has no route
 * for goes to Fastify's not-found handler. Closing the app does not close the handler.
 *
 * @example
 * ```ts
 * await app.register(toFastifyPlugin(handler), { prefix: "/api" });
 * ```
 */
export function toFastifyPlugin(handler: Pick<ExchangeHandler, "handle">): FastifyPluginCallback {
  assertHandler("toFastifyPlugin", handler);
  return (app, _options, done) => {
    // Only inside this plugin: the handler reads the body itself, so that its own limits apply.
    app.removeAllContentTypeParsers();
    app.addContentTypeParser("*", (_request, _payload, parsed) => parsed(null));

    const answer = (request: FastifyRequest, reply: FastifyReply): void => {
      const describe = (): NodeExchangeOptions => ({
        path: stripMount(pathOf(request.raw.url), app.prefix),
        parsedBody: request.body,
        ip: request.ip,
        protocol: request.protocol,
        native: request,
        onReply: () => hijack(reply),
      });
      toNodeHandler(handler, { describe })(request.raw, reply.raw, (error) => {
        if (error === undefined) reply.callNotFound();
        else void reply.send(error);
      });
    };
    app.all("/", answer);
    app.all("/*", answer);
    done();
  };
}

// Headers that hooks have set, such as those for CORS, are Fastify's until it sends; now we do.
function hijack(reply: FastifyReply): void {
  for (const [name, value] of Object.entries(reply.getHeaders())) {
    if (value !== undefined) reply.raw.setHeader(name, value);
  }
  reply.hijack();
}

function pathOf(url = "/"): string {
  const end = url.search(/[?#]/);
  return end === -1 ? url : url.slice(0, end);
}

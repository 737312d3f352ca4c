import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import type { IncomingHttpHeaders } from "node:http";
import { z } from "zod";
import { listen } from "./_listen.ts";
import type { Listening } from "./_listen.ts";

export interface McpHttpServer extends Listening {
  /** Of the last request. */
  readonly headers: IncomingHttpHeaders;
}

/** An MCP server over streamable HTTP with one tool, whose name may be chosen; "draw" draws. */
export async function startMcp(tool = "add_up", port = 0): Promise<McpHttpServer> {
  let headers: IncomingHttpHeaders = {};
  const { fetch } = createMcpHandler(() => {
    const server = new McpServer({ name: "sums", version: "1.0.0" });
    if (tool === "draw") {
      const image = { type: "image" as const, data: "aGVsbG8=", mimeType: "image/png" };
      const about = { description: "Draws a picture.", inputSchema: z.object({}) };
      server.registerTool(tool, about, () => ({ content: [image] }));
      return server;
    }
    const inputSchema = z.object({ a: z.number(), b: z.number() });
    server.registerTool(tool, { description: "Adds two numbers.", inputSchema }, ({ a, b }) => ({
      content: [{ type: "text", text: `The sum is ${a + b}.` }],
    }));
    return server;
  });
  const listening = await listen(async (request, response) => {
    headers = request.headers;
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const answer = await fetch(
      new Request(`http://${request.headers.host}${request.url}`, {
        method: request.method ?? "GET",
        headers: request.headers as Record<string, string>,
        ...(pieces.length > 0 ? { body: Buffer.concat(pieces) } : {}),
      }),
    );
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    if (answer.body) for await (const piece of answer.body) response.write(piece);
    response.end();
  }, port);
  return {
    ...listening,
    get headers() {
      return headers;
    },
  };
}

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import {
  McpServer,
  acceptedContent,
  createMcpHandler,
  inputRequired,
} from "@modelcontextprotocol/server";
import { onTestFinished } from "vitest";
import { z } from "zod";

const size = z.object({ size: z.string() });

/** A connected client of an MCP server, whose requests do not leave the process. */
export async function connectClient(): Promise<{ client: Client; orders: unknown[] }> {
  const orders: unknown[] = [];
  const { fetch } = createMcpHandler(() => createServer(orders));
  const client = new Client(
    { name: "test", version: "1.0.0" },
    { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode: "auto" } },
  );
  const send = (url: string | URL, init?: RequestInit): Promise<Response> =>
    fetch(new Request(url, init));
  await client.connect(
    new StreamableHTTPClientTransport(new URL("http://localhost/mcp"), { fetch: send }),
  );
  onTestFinished(() => client.close());
  return { client, orders };
}

function createServer(orders: unknown[]): McpServer {
  const server = new McpServer({ name: "shop", version: "1.0.0" });
  const text = (words: string) => ({ content: [{ type: "text" as const, text: words }] });
  server.registerTool(
    "add.up",
    { description: "Adds two numbers.", inputSchema: z.object({ a: z.number(), b: z.number() }) },
    ({ a, b }) => text(`The sum is ${a + b}.`),
  );
  server.registerTool(
    "fail",
    { description: "Fails each time.", inputSchema: z.object({}) },
    () => ({
      ...text("There is no paper."),
      isError: true,
    }),
  );
  server.registerTool(
    "draw",
    { description: "Draws a picture.", inputSchema: z.object({}) },
    () => ({
      content: [{ type: "image", data: "aGVsbG8=", mimeType: "image/png" }],
    }),
  );
  server.registerTool(
    "count",
    { description: "Counts to two.", inputSchema: z.object({}) },
    async (_args, ctx) => {
      const { progressToken } = ctx.mcpReq._meta ?? {};
      if (progressToken === undefined) return text("Counted in silence.");
      for (const progress of [1, 2]) {
        const params = { progressToken, progress, total: 2, message: `Step ${progress}` };
        await ctx.mcpReq.notify({ method: "notifications/progress", params });
      }
      return text("Counted.");
    },
  );
  server.registerTool(
    "order",
    { description: "Orders a dish.", inputSchema: z.object({ dish: z.string() }) },
    ({ dish }, ctx) => {
      const answer = acceptedContent(ctx.mcpReq.inputResponses, "size", size);
      if (!answer) {
        const message = `Which size for ${dish}?`;
        return inputRequired({
          inputRequests: { size: inputRequired.elicit({ message, requestedSchema: size }) },
          requestState: "state-of-the-shop",
        });
      }
      orders.push({ dish, ...answer, state: ctx.mcpReq.requestState() });
      return text(`${answer.size} ${dish} is on its way.`);
    },
  );
  return server;
}

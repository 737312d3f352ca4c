// An MCP server over stdio: what it can see of its environment, and ways to fail.
import { McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";

const text = (value) => ({ content: [{ type: "text", text: value }] });

let cancelled = 0;

serveStdio(() => {
  const server = new McpServer({ name: "fixture", version: "1.0.0" });
  const noArguments = z.object({});
  server.registerTool(
    "read_note",
    { description: "Reads a note.", inputSchema: z.object({ title: z.string() }) },
    ({ title }) => text(`The note ${title} says: buy bread.`),
  );
  server.registerTool(
    "environment",
    { description: "The names of all variables.", inputSchema: noArguments },
    () => text(JSON.stringify(process.env)),
  );
  server.registerTool(
    "process_id",
    { description: "The id of this process.", inputSchema: noArguments },
    () => text(String(process.pid)),
  );
  server.registerTool(
    "draw",
    { description: "Draws a picture.", inputSchema: noArguments },
    () => ({
      content: [
        { type: "text", text: "Here it is." },
        { type: "image", data: "aGVsbG8=", mimeType: "image/png" },
      ],
    }),
  );
  server.registerTool(
    "refuse",
    { description: "Always refuses.", inputSchema: noArguments },
    () => ({ ...text("The shop is closed."), isError: true }),
  );
  server.registerTool(
    "hang",
    { description: "Never answers.", inputSchema: noArguments },
    (_, { mcpReq }) =>
      new Promise((resolve) => {
        mcpReq.signal.addEventListener("abort", () => {
          cancelled += 1;
          resolve(text("cancelled"));
        });
      }),
  );
  server.registerTool(
    "count_cancelled",
    { description: "How many calls were cancelled.", inputSchema: noArguments },
    () => text(String(cancelled)),
  );
  server.registerTool(
    "leave",
    { description: "Ends this process.", inputSchema: noArguments },
    () => process.exit(3),
  );
  const learn = server.registerTool(
    "learned",
    { description: "A tool that comes later.", inputSchema: noArguments },
    () => text("I have learned."),
  );
  learn.disable();
  server.registerTool(
    "learn",
    { description: "Makes one more tool.", inputSchema: noArguments },
    () => {
      learn.enable();
      return text("done");
    },
  );
  return server;
});

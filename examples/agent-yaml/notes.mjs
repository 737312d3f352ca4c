// An MCP server over stdio, with the notes of the office.
import { McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";

const notes = { key: "The key is under the mat.", bread: "Buy bread on Friday." };
const text = (value) => ({ content: [{ type: "text", text: value }] });

serveStdio(() => {
  const server = new McpServer({ name: "notes", version: "1.0.0" });
  server.registerTool(
    "list_notes",
    { description: "The titles of all notes.", inputSchema: z.object({}) },
    () => text(Object.keys(notes).join(", ")),
  );
  server.registerTool(
    "read_note",
    { description: "Reads one note.", inputSchema: z.object({ title: z.enum(["key", "bread"]) }) },
    ({ title }) => text(notes[title]),
  );
  server.registerTool(
    "burn_notes",
    { description: "Burns all notes.", inputSchema: z.object({}) },
    () => text("Gone."),
  );
  return server;
});

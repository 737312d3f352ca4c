import { HttpAgent } from "@ag-ui/client";
import { HttpAgent as OldHttpAgent } from "ag-ui-client-0";
import { serve } from "@holodeck/agui-node";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makeDocx, makePdf, makePptx, makeXlsx } from "./_make.ts";
import { base64, serveEcho, textOf, types, ways } from "./_serve.ts";
import type { Sent } from "./_serve.ts";

const { handler, seen } = serveEcho();
afterAll(() => handler.close());

const encoder = new TextEncoder();

const documents: readonly (Sent & { expected: string })[] = [
  {
    name: "report.pdf",
    mimeType: types.pdf,
    bytes: await makePdf("Turnover rose by 12 percent.", "Costs fell."),
    expected: "Turnover rose by 12 percent.\n\nCosts fell.",
  },
  {
    name: "letter.docx",
    mimeType: types.docx,
    bytes: makeDocx({
      title: "Offer",
      text: "Dear snake_case,",
      table: [
        ["Item", "Price"],
        ["Chair", "12"],
      ],
    }),
    expected: "# Offer\n\nDear snake_case,\n\n| Item | Price |\n| --- | --- |\n| Chair | 12 |",
  },
  {
    name: "figures.xlsx",
    mimeType: types.xlsx,
    bytes: makeXlsx({
      First: [
        ["City", "Heads"],
        ["Köln", 12.5],
      ],
      Second: [["alone"]],
    }),
    expected:
      "### First\n\n| City | Heads |\n| --- | --- |\n| Köln | 12.5 |\n\n### Second\n\n| alone |\n| --- |",
  },
  {
    name: "talk.pptx",
    mimeType: types.pptx,
    bytes: makePptx([
      { title: "Why", lines: ["Because &amp; so", "Again"], notes: "Smile." },
      { title: "How", lines: ["Slowly"] },
    ]),
    expected:
      "### Slide 1: Why\n\n- Because & so\n- Again\n\nNotes: Smile.\n\n### Slide 2: How\n\n- Slowly",
  },
  {
    name: "table.csv",
    mimeType: types.csv,
    bytes: encoder.encode("a,b\n1,2\n"),
    expected: "a,b\n1,2\n",
  },
  {
    name: "notes.md",
    mimeType: types.md,
    bytes: encoder.encode("# Notes\n- one"),
    expected: "# Notes\n- one",
  },
  {
    name: "plain.txt",
    mimeType: types.txt,
    bytes: encoder.encode("Grüße"),
    expected: "Grüße",
  },
];

describe.each(Object.keys(ways))("over %s", (way) => {
  test.each(documents)("gives the agent the text of $name", async ({ expected, ...file }) => {
    const response = await handler.fetch(ways[way]!("What does it say?", [file]));
    const answer = await response.text();
    expect(response.status, answer).toBe(200);
    expect(textOf(seen.messages.at(-1)!)).toBe(
      `What does it say?\n\n## File: ${file.name}\n${expected}`,
    );
    expect(seen.files).toMatchObject([
      { name: file.name, mimeType: file.mimeType, size: file.bytes.byteLength },
    ]);
    expect(seen.bytes[0]).toEqual(new Uint8Array(file.bytes));
    // The agent repeats it to the client.
    expect(answer).toContain(JSON.stringify(`## File: ${file.name}`).slice(1, -1));
  });

  test("puts several files below one message, in their order", async () => {
    const [pdf, , , , csv] = documents;
    await (await handler.fetch(ways[way]!("Both?", [csv!, pdf!]))).text();
    expect(textOf(seen.messages.at(-1)!)).toBe(
      `Both?\n\n## File: table.csv\n${csv!.expected}\n## File: report.pdf\n${pdf!.expected}`,
    );
  });
});

// What an application hands to the client of its version; the rest is the client's own doing.
const clients = [
  {
    name: "@ag-ui/client 1.0",
    open: (url: string) => new HttpAgent({ url }),
    part: ({ name, mimeType, bytes }: Sent) => ({
      type: "document",
      source: { type: "data", value: base64(bytes), mimeType },
      metadata: { filename: name },
    }),
  },
  {
    name: "@ag-ui/client 0.0.59",
    open: (url: string) => new OldHttpAgent({ url }) as unknown as HttpAgent,
    part: ({ name, mimeType, bytes }: Sent) => ({
      type: "binary",
      mimeType,
      data: base64(bytes),
      filename: name,
    }),
  },
];

describe.each(clients)("with $name", ({ open, part }) => {
  let server: Awaited<ReturnType<typeof serve>>;
  const own = serveEcho();
  beforeAll(async () => {
    server = await serve(own.handler, { port: 0 });
  });
  afterAll(() => server.close());

  test.each(documents)("an agent repeats the text of $name", async ({ expected, ...file }) => {
    const agent = open(`${server.url}/agui`);
    const content = [{ type: "text", text: "What does it say?" }, part(file)];
    agent.messages = [{ id: "m1", role: "user", content: content as never }];
    const { newMessages } = await agent.runAgent();
    expect(newMessages).toMatchObject([
      { role: "assistant", content: `What does it say?\n\n## File: ${file.name}\n${expected}` },
    ]);
  });
});

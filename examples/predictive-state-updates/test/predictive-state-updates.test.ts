import { clients, finished, started, text, toolCall, waitingFor } from "@holodeck/example-shared";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { start } from "../server.ts";

let server: Awaited<ReturnType<typeof start>>;
beforeAll(async () => {
  server = await start(0);
});
afterAll(() => server.close());

const document = "A story about a pirate. It begins well and ends better.";
const fragments = [
  '{"document":"A story abo',
  "ut a pirate. It begins w",
  'ell and ends better."}',
];

describe.for(clients)("predictive state updates with $name", (client) => {
  const write = async (state: Record<string, unknown> = {}) => {
    const chat = client.open(`${server.url}/agui`, { tools: ["confirm_changes"], state });
    const events = await chat.send("a pirate");
    const [written, confirm] = events
      .filter((event) => event.type === "TOOL_CALL_START")
      .map((event) => event.toolCallId as string);
    return { chat, events, written: written!, confirm: confirm! };
  };

  test("announces the state, streams it as arguments and asks for confirmation", async () => {
    const { chat, events, written, confirm } = await write();
    expect(events).toMatchObject([
      started,
      {
        type: "CUSTOM",
        name: "PredictState",
        value: [{ state_key: "document", tool: "write_document_local", tool_argument: "document" }],
      },
      ...toolCall("write_document_local", ...fragments),
      { type: "TOOL_CALL_RESULT", toolCallId: written, content: "Document written." },
      ...toolCall("confirm_changes", "{}"),
      // Only the page's own tool is open; the server has answered the other.
      waitingFor(client, confirm),
    ]);
    expect(chat.contentType).toBe(client.contentType);
    expect(chat.state).toEqual({});
  });

  test("makes the document part of the state once it is confirmed", async () => {
    const { chat, events: asked, written, confirm } = await write();
    const events = await chat.answer(confirm, { accepted: true });
    expect(events).toMatchObject([
      started,
      { type: "STATE_SNAPSHOT", snapshot: { document } },
      ...text("The changes are saved."),
      finished,
    ]);
    expect(events[0]?.threadId).toBe(asked[0]?.threadId);
    expect(chat.state).toEqual({ document });
    expect(chat.messages).toMatchObject([
      { role: "user", content: "a pirate" },
      {
        role: "assistant",
        toolCalls: [{ id: written, function: { arguments: JSON.stringify({ document }) } }],
      },
      { role: "tool", toolCallId: written, content: "Document written." },
      { role: "assistant", toolCalls: [{ id: confirm, function: { name: "confirm_changes" } }] },
      { role: "tool", toolCallId: confirm },
      { role: "assistant", content: "The changes are saved." },
    ]);
  });

  test("brings the page back to the old document when it is refused", async () => {
    const { chat, confirm } = await write({ document: "The old one." });
    const events = await chat.answer(confirm, { accepted: false });
    expect(events).toMatchObject([
      started,
      { type: "STATE_SNAPSHOT", snapshot: { document: "The old one." } },
      ...text("The changes are dropped."),
      finished,
    ]);
    expect(chat.state).toEqual({ document: "The old one." });
  });
});

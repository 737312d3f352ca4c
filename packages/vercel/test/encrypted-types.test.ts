import type { AgentFunction, Message } from "@holodeck/agui-core";
import { describe, expect, test } from "vitest";
import { createChat, sdks, serveChat } from "./_chat.ts";

const thought = [
  { type: "REASONING_MESSAGE_START", messageId: "t", role: "reasoning" },
  { type: "REASONING_MESSAGE_CONTENT", messageId: "t", delta: "Hm." },
  { type: "REASONING_MESSAGE_END", messageId: "t" },
];
const encrypted = (encryptedValue: string, type?: string): object => ({
  type: "REASONING_ENCRYPTED_VALUE",
  subtype: "message",
  entityId: "t",
  encryptedValue,
  ...(type === undefined ? {} : { encryptedValueType: type }),
});

describe.for(sdks.filter(({ name }) => /^\d$/.test(name)))("useChat of AI SDK $name", (sdk) => {
  test.for([
    {
      values: [encrypted("one", "a.one")],
      kept: { encryptedValue: "one", encryptedValueType: "a.one" },
    },
    { values: [encrypted("one", "a.one"), encrypted("two")], kept: { encryptedValue: "two" } },
    { values: [encrypted("one")], kept: { encryptedValue: "one" } },
  ])("sends back an encrypted value and its type: $kept", async ({ values, kept }) => {
    const seen: (readonly Message[])[] = [];
    const agent: AgentFunction = async function* ({ messages }) {
      seen.push(messages);
      if (seen.length === 1) yield* [...thought, ...values] as never[];
      yield "Yes.";
    };
    const { api } = await serveChat(agent);
    const { chat } = createChat(sdk, { api });
    await chat.sendMessage({ text: "Hi" });
    // On another thread only what the client has is known.
    const next = createChat(sdk, { api, id: "chat-2", messages: chat.messages });
    await next.chat.sendMessage({ text: "Again" });
    const found = seen[1]!.find(({ role }) => role === "reasoning");
    expect(found).toEqual({ id: "t", role: "reasoning", content: "Hm.", ...kept });
  });
});

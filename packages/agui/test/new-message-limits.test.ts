import type { FileProcessor, Message } from "@holodeck/agui-core";
import { describe, expect, test } from "vitest";
import { createAgentHandler, memorySessions } from "../src/index.ts";
import type { AgentHandlerOptions } from "../src/index.ts";
import { memoryLogger, post } from "./_helpers.ts";

const key = { principal: "", threadId: "t" };
const limits = { files: 3, requestFiles: 4, fileBytes: 9, inlineFileBytes: 12, messageChars: 10 };

type User = Extract<Message, { role: "user" }>;
type Part = Exclude<User["content"], string>[number];

const text = (value: string): Part => ({ type: "text", text: value });
const image = (source: object): Part => ({ type: "image", source }) as Part;
/** An image of so many bytes, which are a multiple of three. */
const bytes = (count: number): Part =>
  image({ type: "data", value: "AAAA".repeat(count / 3), mimeType: "image/png" });
const media = (type: string, mimeType: string): Part =>
  ({ type, source: { type: "data", value: "AAAA", mimeType } }) as Part;
const user = (content: User["content"], id = "u1"): User => ({ id, role: "user", content });
const answer: Message = { id: "a1", role: "assistant", content: "Hello." };

interface Asked {
  readonly options?: AgentHandlerOptions;
  /** What the thread holds. */
  readonly thread?: readonly Message[];
}

async function ask(messages: readonly Message[], { options = {}, thread }: Asked = {}) {
  const sessions = memorySessions();
  if (thread) {
    await sessions.create(key, { agentId: "default" });
    await sessions.update(key, { messages: thread });
  }
  let given: readonly Message[] | undefined;
  const handler = createAgentHandler(async (input) => void (given = input.messages), {
    sessions,
    limits,
    logger: memoryLogger(),
    ...options,
  });
  const response = await handler.fetch(post({ threadId: "t", messages }));
  const body = await response.text();
  if (response.ok) return { status: 200, given };
  const { code, detail, errors } = JSON.parse(body) as Record<string, unknown>;
  return { status: response.status, code, detail, errors };
}

const refused = (status: number, code: string, detail: string, path?: string): object => ({
  status,
  code,
  detail,
  errors: path === undefined ? undefined : [{ path, message: detail }],
});
const invalid = (rest: string, path = "messages.0.content"): object =>
  refused(400, "invalid-request", `${path} ${rest}`, path);

describe("a request with", () => {
  test.for<[string, Message[], object]>([
    ["a text of just the limit", [user("x".repeat(10))], { status: 200 }],
    [
      "texts of one more in all",
      [user([text("xxxxx"), text("xxxxx")])],
      invalid("has 11 characters of text; this server accepts at most 10."),
    ],
    ["the name of a file beside a text", [user([text("xxxxxxxxxx"), bytes(3)])], { status: 200 }],
    [
      "as many files as a message may have",
      [user([bytes(3), bytes(3), bytes(3)])],
      { status: 200 },
    ],
    [
      "one file more than a message may have",
      [user([bytes(3), bytes(3), bytes(3), bytes(3)])],
      invalid("has 4 files; this server accepts at most 3."),
    ],
    [
      "as many files as a request may have",
      [user([bytes(3), bytes(3)]), user([bytes(3), bytes(3)], "u2")],
      { status: 200 },
    ],
    [
      "one file more than a request may have",
      [user([bytes(3), bytes(3)]), user([bytes(3), bytes(3), bytes(3)], "u2")],
      invalid("have 5 files; this server accepts at most 4 (limits.requestFiles).", "messages"),
    ],
    ["a file of just the limit", [user([bytes(9)])], { status: 200 }],
    [
      "a file of more than the limit",
      [user([bytes(12)])],
      refused(413, "payload-too-large", "A file is larger than 9 bytes."),
    ],
    ["files of just the limit in all", [user([bytes(9), bytes(3)])], { status: 200 }],
    [
      "files of more than the limit in all",
      [user([bytes(9)]), user([bytes(3), bytes(3)], "u2")],
      refused(
        413,
        "payload-too-large",
        "The files in the messages have 15 bytes; this server accepts at most 12.",
      ),
    ],
    [
      "the address of a file beside files of just the limit",
      [user([image({ type: "url", value: "https://files.example/a.png" }), bytes(9), bytes(3)])],
      { status: 200 },
    ],
    [
      "a file that is not base64 before one that is",
      [user([image({ type: "data", value: "!", mimeType: "image/png" }), bytes(3)])],
      invalid("has a file that is not valid base64."),
    ],
    [
      "a file that is not accepted after one that is",
      [user([bytes(3), media("document", "application/x-sh")])],
      refused(
        400,
        "unsupported-media-type",
        "Unsupported MIME type: application/x-sh",
        "messages.0.content",
      ),
    ],
    [
      "a type of more characters than are shown",
      [user([media("document", `application/${"x".repeat(200)}`)])],
      expect.objectContaining({
        detail: expect.stringMatching(/^Unsupported MIME type: application\/x{88}…$/),
      }),
    ],
    ["audio as audio", [user([media("audio", "audio/ogg")])], { status: 200 }],
    ["a video as a video", [user([media("video", "video/mp4")])], { status: 200 }],
    [
      "audio as a video",
      [user([media("video", "audio/ogg")])],
      expect.objectContaining({ code: "unsupported-media-type" }),
    ],
    [
      "an upload that nothing stores",
      [user([image({ type: "file", value: "f".repeat(200), mimeType: "image/png" })])],
      expect.objectContaining({
        status: 400,
        code: "file-not-found",
        detail: `There is no file "${"f".repeat(100)}…": this server stores no uploads.`,
      }),
    ],
    [
      "a name of a file that is no text",
      [
        user([
          {
            ...(media("document", "application/octet-stream") as object),
            metadata: { filename: 7 },
          } as Part,
        ]),
      ],
      expect.objectContaining({ code: "unsupported-media-type" }),
    ],
  ])("%s is answered", async ([, messages, expected]) => {
    expect(await ask(messages)).toMatchObject(expected);
  });
});

describe("a message with more files than a user may send", () => {
  const long = user([bytes(3), bytes(3), bytes(3), bytes(3)]);

  test("is taken when the thread has it", async () => {
    const asked = await ask([user("hi", "u0"), answer, long], {
      thread: [user("hi", "u0"), answer, long],
    });
    expect(asked).toMatchObject({ status: 200 });
  });

  test.for<[string, Message]>([
    ["something else under its id", { ...long, content: "Hello." }],
    ["its files under another id", { ...long, id: "u2" }],
  ])("is refused when the thread has %s", async ([, stored]) => {
    expect(await ask([long], { thread: [stored, answer] })).toMatchObject({ status: 400 });
  });

  test("is refused on a thread that is unknown", async () => {
    expect(await ask([long])).toMatchObject({ status: 400 });
  });

  test("is taken in front of an answer", async () => {
    expect(await ask([long, answer, user("hi", "u2")])).toMatchObject({ status: 200 });
  });
});

describe("with a processor of files", () => {
  const read: Message = user("what the file says");
  const files: FileProcessor = {
    process: async ({ input }) => ({
      messages: new Map(
        input.messages.flatMap((one) => (typeof one.content === "string" ? [] : [[one, read]])),
      ),
      files: [],
      release: () => undefined,
    }),
  };

  test.for([
    ["of more bytes than are passed on", [bytes(12), bytes(12)]],
    ["of a type that is not passed on", [media("document", "application/x-sh")]],
  ] as const)("files %s are left to it", async ([, parts]) => {
    const asked = await ask([user([...parts])], { options: { files } });
    expect(asked).toMatchObject({ status: 200, given: [read] });
  });

  test("messages without files are as they were sent", async () => {
    const messages = [user("hi", "u0"), user([bytes(3)])];
    expect(await ask(messages, { options: { files } })).toMatchObject({
      given: [messages[0], read],
    });
  });

  test("there are not more of them all the same", async () => {
    const asked = await ask([user([bytes(3), bytes(3), bytes(3), bytes(3)])], {
      options: { files },
    });
    expect(asked).toMatchObject({ status: 400 });
  });
});

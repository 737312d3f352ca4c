import { silentLogger } from "@holodeck/agui-core";
import { serve } from "@holodeck/agui-node";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createAgentHandler } from "../src/index.ts";

interface Problem {
  readonly code: string;
  readonly detail: string;
}

let url = "";
let close: () => Promise<unknown>;
let runs = 0;

beforeAll(async () => {
  const handler = createAgentHandler(
    async () => {
      runs++;
      return "fine";
    },
    { logger: silentLogger, limits: { inlineFileBytes: 300, messageChars: 1_000 } },
  );
  const server = await serve(handler, { port: 0, signals: false });
  ({ close, url } = server);
});
afterAll(() => close());

interface File {
  readonly mimeType: string;
  readonly data?: string;
  readonly id?: string;
  readonly filename?: string;
}

interface Sent {
  readonly text: string;
  readonly files?: readonly File[];
}

interface Wire {
  readonly name: string;
  readonly path: string;
  /** A conversation of a user's messages and answers, in turn. */
  body(sent: readonly Sent[]): object;
}

let threads = 0;

function toAgui(sent: readonly Sent[], isBinary: boolean): object {
  const messages = sent.flatMap(({ text, files }, at) => [
    {
      id: `u${at}`,
      role: "user",
      content: files
        ? [
            { type: "text", text },
            ...files.map((file) => (isBinary ? toBinary(file) : toMedia(file))),
          ]
        : text,
    },
    ...(at < sent.length - 1 ? [{ id: `a${at}`, role: "assistant", content: "fine" }] : []),
  ]);
  return { threadId: `thread-${++threads}`, runId: `run-${threads}`, messages };
}

const toBinary = (file: File): object => ({ type: "binary", ...file });
const toMedia = ({ mimeType, data, id, filename }: File): object => ({
  type: mimeType.startsWith("image/") ? "image" : "document",
  ...(filename === undefined ? {} : { metadata: { filename } }),
  source:
    id === undefined
      ? { type: "data", value: data, mimeType }
      : { type: "file", value: id, mimeType },
});

const aguiWires: readonly Wire[] = [
  { name: "AG-UI", path: "/agui", body: (sent) => toAgui(sent, false) },
  { name: "AG-UI, binary parts", path: "/agui", body: (sent) => toAgui(sent, true) },
  { name: "CopilotKit", path: "/agui/agent/default/run", body: (sent) => toAgui(sent, false) },
  {
    name: "CopilotKit's single endpoint",
    path: "/agui",
    body: (sent) => ({
      method: "agent/run",
      params: { agentId: "default" },
      body: toAgui(sent, false),
    }),
  },
];

const wires: readonly Wire[] = [
  ...aguiWires,
  {
    name: "useChat 5 to 7",
    path: "/api/chat",
    body: (sent) => ({
      id: `chat-${++threads}`,
      messages: sent.flatMap(({ text, files = [] }, at) => [
        {
          id: `u${at}`,
          role: "user",
          parts: [
            { type: "text", text },
            ...files.map(({ mimeType, data, filename }) => ({
              type: "file",
              mediaType: mimeType,
              filename,
              url: `data:${mimeType};base64,${data}`,
            })),
          ],
        },
        ...(at < sent.length - 1
          ? [{ id: `a${at}`, role: "assistant", parts: [{ type: "text", text: "fine" }] }]
          : []),
      ]),
    }),
  },
  {
    name: "useChat 4",
    path: "/api/chat",
    body: (sent) => ({
      id: `chat-${++threads}`,
      messages: sent.flatMap(({ text, files = [] }, at) => [
        {
          id: `u${at}`,
          role: "user",
          content: text,
          experimental_attachments: files.map(({ mimeType, data, filename }) => ({
            contentType: mimeType,
            name: filename,
            url: `data:${mimeType};base64,${data}`,
          })),
        },
        ...(at < sent.length - 1 ? [{ id: `a${at}`, role: "assistant", content: "fine" }] : []),
      ]),
    }),
  },
];

const rest: Wire = {
  name: "REST",
  path: "/agent/default/chat",
  body: (sent) => {
    const { text, files = [] } = sent.at(-1)!;
    const list = files.map(({ mimeType, data }) => ({ mime_type: mimeType, content: data }));
    return { message: text, files: list };
  },
};

async function post(path: string, body: object): Promise<{ status: number; problem: Problem }> {
  const response = await fetch(`${url}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  const problem = response.ok ? { code: "", detail: "" } : (JSON.parse(text) as Problem);
  return { status: response.status, problem };
}

const png = { mimeType: "image/png", data: "AAAA" };
const large = { mimeType: "image/png", data: "A".repeat(404) };

const refusals: readonly (readonly [string, readonly Sent[], number, string])[] = [
  ["eleven files", [{ text: "hi", files: Array(11).fill(png) }], 400, "invalid-request"],
  [
    "files of more than the limit in all",
    [{ text: "hi", files: [large] }],
    413,
    "payload-too-large",
  ],
  [
    "several files of more than the limit in all",
    [
      {
        text: "hi",
        files: [
          { ...png, data: "A".repeat(240) },
          { ...png, data: "A".repeat(240) },
        ],
      },
    ],
    413,
    "payload-too-large",
  ],
  [
    "a file that is not base64",
    [{ text: "hi", files: [{ ...png, data: "no base64!" }] }],
    400,
    "invalid-request",
  ],
  [
    "a file of a type that is not accepted",
    [{ text: "hi", files: [{ mimeType: "application/x-sh", data: "AAAA" }] }],
    400,
    "unsupported-media-type",
  ],
  ["an empty message", [{ text: "" }], 400, "invalid-request"],
  ["a blank message", [{ text: " \n" }], 400, "invalid-request"],
];

describe.for([...wires, rest])("over $name, without extractFiles(), a user", ({ path, body }) => {
  test.for(refusals)("is refused %s", async ([, sent, status, code]) => {
    runs = 0;
    const answer = await post(path, body(sent));
    expect([answer.status, answer.problem.code]).toEqual([status, code]);
    expect(runs).toBe(0);
  });

  test("may send ten files", async () => {
    const answer = await post(path, body([{ text: "hi", files: Array(10).fill(png) }]));
    expect(answer.status).toBe(200);
  });
});

describe.for(wires)("over $name, a user", ({ path, body }) => {
  test("is refused a message of more characters than the limit, as long as it is new", async () => {
    const long = { text: "x".repeat(1_001) };
    expect(await post(path, body([{ text: "hi" }, long]))).toMatchObject({ status: 400 });
    expect(await post(path, body([long, { text: "hi" }]))).toMatchObject({ status: 200 });
  });

  test("may send a file without a word", async () => {
    expect(await post(path, body([{ text: "", files: [png] }]))).toMatchObject({ status: 200 });
  });

  test("may send a file whose type the browser does not know, by its name", async () => {
    const bytes = { mimeType: "application/octet-stream", data: "aGk=" };
    const send = (filename: string) =>
      post(path, body([{ text: "read this", files: [{ ...bytes, filename }] }]));
    expect(await send("notes.md")).toMatchObject({ status: 200 });
    expect(await send("Table.CSV")).toMatchObject({ status: 200 });
    expect(await send("notes.md.sh")).toMatchObject({
      status: 400,
      problem: { code: "unsupported-media-type" },
    });
  });

  test("may have empty messages and many files further up", async () => {
    const before = [{ text: "" }, { text: "hi", files: [large, ...Array(10).fill(png)] }];
    expect(await post(path, body([...before, { text: "hi" }]))).toMatchObject({ status: 200 });
  });
});

describe.for(aguiWires)("over $name, a user", ({ path, body }) => {
  test("is refused the id of a file that was never uploaded", async () => {
    const files = [{ mimeType: "image/png", id: "file-1" }];
    expect(await post(path, body([{ text: "look", files }]))).toMatchObject({
      status: 400,
      problem: { code: "file-not-found" },
    });
  });
});

test("two new messages in one request are both looked at", async () => {
  const messages = [
    { id: "a", role: "user", content: "x".repeat(1_001) },
    { id: "b", role: "user", content: "hi" },
  ];
  const { status, problem } = await post("/agui", { threadId: "two", runId: "two", messages });
  expect([status, problem.detail]).toEqual([
    400,
    "messages.0.content has 1001 characters of text; this server accepts at most 1000.",
  ]);
});

test("audio goes to an agent that reads it", async () => {
  const source = { type: "data", value: "AAAA", mimeType: "audio/wav" };
  const messages = [{ id: "a", role: "user", content: [{ type: "audio", source }] }];
  expect(await post("/agui", { threadId: "audio", runId: "audio", messages })).toMatchObject({
    status: 200,
  });
});

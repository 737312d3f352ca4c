import { createAgentHandler } from "@holodeck/agui";
import { silentLogger } from "@holodeck/agui-core";
import type { AgentFunction, Limits } from "@holodeck/agui-core";
import fc from "fast-check";
import { connect } from "node:net";
import { describe, expect, test } from "vitest";
import { rest, SUPPORTED_MIME_TYPES } from "../src/index.ts";
import {
  chat,
  deferred,
  describeFiles,
  form,
  problemOf,
  serveRest,
  sessionId,
  shareRest,
} from "./_kit.ts";
import type { RestServer } from "./_kit.ts";

const path = "/agent/helper/chat";
const numRuns = Number(process.env.REST_RUNS ?? 60);
const base64 = (text: string): string => Buffer.from(text).toString("base64");
const [png, , , , pdf] = SUPPORTED_MIME_TYPES;

/** Answers with what it was given: the last message, and every file. */
const clerk: AgentFunction = async (input, { files }) =>
  JSON.stringify({
    content: (input.messages.at(-1) as { content: unknown }).content,
    files: await describeFiles(files),
  });

const shared = shareRest(clerk);

interface Given {
  readonly content: unknown;
  readonly files: readonly { name: string; mimeType: string; size: number; bytes: string }[];
}

async function given(server: RestServer, body: unknown): Promise<Given> {
  return JSON.parse((await chat(server, body)).content) as Given;
}

function file(text: string, name: string, type = ""): File {
  return new File([text], name, { type });
}

function toStream(pieces: readonly Uint8Array[]): ReadableStream<Uint8Array> {
  const rest = pieces.filter(({ length }) => length > 0).values();
  return new ReadableStream({
    pull(controller) {
      const { done, value } = rest.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
  });
}

describe("files in JSON", () => {
  test("reach the agent: text in the message, the others beside it, all of them as files", async () => {
    const server = shared();
    const files = [
      { content: base64("a,b\n1,2"), mime_type: "text/csv; charset=utf-8", filename: "t.csv" },
      { content: base64("PNG"), mime_type: "image/png", filename: "p.png" },
      { content: base64("# Notes"), mime_type: "TEXT/Markdown" },
      { content: base64("PDF"), mime_type: pdf, filename: null },
    ];
    expect(await given(server, { message: "Look", files })).toEqual({
      content: [
        { type: "text", text: "Look\n\n## File: t.csv\na,b\n1,2\n## File: file-3\n# Notes" },
        {
          type: "image",
          source: { type: "data", value: base64("PNG"), mimeType: png },
          metadata: { filename: "p.png" },
        },
        {
          type: "document",
          source: { type: "data", value: base64("PDF"), mimeType: pdf },
          metadata: { filename: "file-4" },
        },
      ],
      files: [
        { name: "t.csv", mimeType: "text/csv", size: 7, bytes: "a,b\n1,2", stream: "a,b\n1,2" },
        { name: "p.png", mimeType: "image/png", size: 3, bytes: "PNG", stream: "PNG" },
        { name: "file-3", mimeType: "text/markdown", size: 7, bytes: "# Notes", stream: "# Notes" },
        { name: "file-4", mimeType: pdf, size: 3, bytes: "PDF", stream: "PDF" },
      ],
    });
  });

  test.for([
    ["YWJj", "abc"],
    ["YWI=", "ab"],
    ["YQ==", "a"],
    ["", ""],
    ["+/+/", Buffer.from("+/+/", "base64").toString()],
  ])("are decoded from %j", async ([content, text]) => {
    const server = shared();
    const files = [{ content, mime_type: "text/plain" }];
    expect((await given(server, { message: "Hi", files })).files[0]?.bytes).toBe(text);
  });

  test.for(["YWJ", "YW J", "YWJj\n", "YW=j", "YQ=", "YQ===", "=", "====", "-_-_", "ÿÿÿÿ"])(
    "are refused when %j is no base64",
    async (content) => {
      const server = shared();
      const response = await server.post(path, {
        message: "Hi",
        files: [{ content, mime_type: "text/plain" }],
      });
      expect(response.status).toBe(400);
      expect(await problemOf(response)).toMatchObject({
        code: "invalid-request",
        detail: "content must be valid base64",
      });
    },
  );

  test("of ten megabytes are taken, of one byte more are not", async () => {
    const agent: AgentFunction = async (_, { files }) => String(files[0]?.size);
    const server = await serveRest(agent);
    const size = 10 * 1024 * 1024;
    const body = (bytes: number): object => ({
      message: "Hi",
      files: [{ content: Buffer.alloc(bytes).toString("base64"), mime_type: pdf }],
    });
    expect(await chat(server, body(size))).toMatchObject({ content: String(size) });
    const response = await server.post(path, body(size + 1));
    expect(response.status).toBe(413);
    expect(await problemOf(response)).toMatchObject({
      code: "payload-too-large",
      detail:
        "The files in the JSON are larger than 10485760 bytes; send them as multipart/form-data.",
    });
  });

  test.for<[string, Partial<Limits>, string]>([
    ["one file", { fileBytes: 3 }, "A file is larger than 3 bytes."],
    [
      "all of them",
      { inlineFileBytes: 7 },
      "The files in the JSON are larger than 7 bytes; send them as multipart/form-data.",
    ],
  ])("are counted decoded: %s", async ([, limits, detail]) => {
    const server = await serveRest(clerk, { limits });
    const four = { content: base64("abcd"), mime_type: "text/plain" };
    const response = await server.post(path, { message: "Hi", files: [four, four] });
    expect(response.status).toBe(413);
    expect(await problemOf(response)).toMatchObject({ detail });
  });
});

describe("the types of files", () => {
  test("are eleven", () => {
    expect(SUPPORTED_MIME_TYPES).toHaveLength(11);
    expect(new Set(SUPPORTED_MIME_TYPES).size).toBe(11);
  });

  test.for(SUPPORTED_MIME_TYPES)("include %s, in JSON and in a form", async (mime_type) => {
    const server = shared();
    const inJson = { message: "Hi", files: [{ content: base64("x"), mime_type }] };
    const inForm = form({ message: "Hi" }, [file("x", "x", mime_type)]);
    for (const body of [inJson, inForm]) {
      expect((await given(server, body)).files).toMatchObject([{ mimeType: mime_type, size: 1 }]);
    }
  });

  test.for(["video/mp4", "application/vnd.openxmlformats-officedocument.x", "image/svg+xml", ""])(
    "do not include %j",
    async (mime_type) => {
      const server = shared();
      const json = await server.post(path, {
        message: "Hi",
        files: [{ content: base64("x"), mime_type }],
      });
      expect(json.status).toBe(400);
      expect(await problemOf(json)).toMatchObject({
        code: "unsupported-media-type",
        detail: `Unsupported MIME type: ${mime_type}`,
        errors: [{ path: "files.0.mime_type" }],
      });
      const type = mime_type || "application/octet-stream";
      const multipart = await server.post(path, form({ message: "Hi" }, [file("x", "x", type)]));
      expect(multipart.status).toBe(400);
      expect(await problemOf(multipart)).toMatchObject({
        code: "unsupported-media-type",
        detail: `Unsupported MIME type: ${type}`,
        errors: [{ path: "files.0" }],
      });
    },
  );

  test("may be more than those", async () => {
    const server = await serveRest(clerk, { rest: { mimeTypes: ["Audio/WAV"] } });
    const { files } = await given(
      server,
      form({ message: "Hi" }, [file("x", "a.wav", "audio/wav")]),
    );
    expect(files).toMatchObject([{ mimeType: "audio/wav" }]);
  });

  test.for([
    ["README.md", "text/markdown"],
    ["T.CSV", "text/csv"],
    ["a.b.docx", SUPPORTED_MIME_TYPES[5]],
  ])("have the type of the name %s where a browser knows none", async ([name, type]) => {
    const server = shared();
    const body = form({ message: "Hi" }, [file("x", name!, "application/octet-stream")]);
    expect((await given(server, body)).files).toMatchObject([{ mimeType: type }]);
  });
});

describe("the names of files", () => {
  test.for([
    ["../../etc/passwd.txt", "passwd.txt"],
    ["C:\\Users\\Ada\\a.txt", "a.txt"],
    ["a\u0000\u0007\u001b[31mb\u007f\u0085.txt", "a[31mb.txt"],
    ["gpj.\u202ecod.txt", "gpj.cod.txt"],
    ["..", "file-1"],
    ["a/", "file-1"],
    ["  ", "file-1"],
    ["Übersicht 👩‍🔬.txt", "Übersicht 👩‍🔬.txt"],
    ["in\u200bvoice\u2060.p\u00addf", "invoice.pdf"],
    ["a\u200db\u200c\u3164.txt\u{e0041}", "ab.txt"],
    ["🌦".repeat(300), "🌦".repeat(255)],
  ])("are made harmless: %j", async ([filename, name]) => {
    const server = shared();
    const files = [{ content: base64("x"), mime_type: "text/plain", filename }];
    expect((await given(server, { message: "Hi", files })).files).toMatchObject([{ name }]);
  });

  test("are made harmless in a form, too", async () => {
    const server = shared();
    const body = form({ message: "Hi" }, [file("x", "../../a\u0001.txt", "text/plain")]);
    expect((await given(server, body)).files).toMatchObject([{ name: "a.txt" }]);
  });
});

describe("a form", () => {
  test("has a message, a session and files, and is answered as JSON is", async () => {
    const server = shared();
    const fields = { message: "Look 👀\r\n", session_id: sessionId };
    const body = form(fields, [file("# A", "a.md"), file("PDF", "b.pdf", pdf)]);
    const answer = await chat(server, body);
    expect(answer.session_id).toBe(sessionId);
    expect(JSON.parse(answer.content)).toMatchObject({
      content: [
        { type: "text", text: "Look 👀\r\n\n\n## File: a.md\n# A" },
        { type: "document", source: { value: base64("PDF") } },
      ],
      files: [
        { name: "a.md", bytes: "# A", stream: "# A" },
        { name: "b.pdf", bytes: "PDF", stream: "PDF" },
      ],
    });
  });

  test("is streamed to as well", async () => {
    const server = shared();
    const body = form({ message: "Hi" }, [file("# A", "a.md")]);
    const response = await server.post(`${path}/stream`, body);
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    expect(await response.text()).toContain("## File: a.md");
  });

  test("may leave session and files empty, as browsers do", async () => {
    const server = shared();
    const empty = new File([], "", { type: "application/octet-stream" });
    expect(await given(server, form({ message: "Hi", session_id: "" }, [empty]))).toEqual({
      content: "Hi",
      files: [],
    });
  });

  test.for<[string, FormData, string]>([
    ["no message", form({}), "message is required"],
    ["a blank message", form({ message: " " }), "message cannot be blank"],
    [
      "a session id that is no ULID",
      form({ message: "Hi", session_id: "x" }),
      "session_id must be valid ULID",
    ],
    [
      "a message that is too long",
      form({ message: "x".repeat(10_001) }),
      "message must have at most 10000 characters",
    ],
    [
      "eleven files",
      form(
        { message: "Hi" },
        Array.from({ length: 11 }, (_, index) => file("x", `${index}.txt`)),
      ),
      "files must be at most 10",
    ],
  ])("with %s is refused in the words of JSON", async ([, body, detail]) => {
    const server = shared();
    const response = await server.post(path, body);
    expect(response.status).toBe(400);
    expect(await problemOf(response)).toMatchObject({ code: "invalid-request", detail });
  });

  test("may have a preamble and padded boundaries, as gateways write them", async () => {
    const server = await serveRest(async ({ messages }) =>
      JSON.stringify(messages.at(-1)?.content),
    );
    const text =
      'This is a form.\r\n--b \t\r\ncontent-disposition: form-data; name="message"\r\n\r\nHi\r\n--b--\r\n';
    const response = await fetch(`${server.url}${path}`, {
      method: "POST",
      headers: { "content-type": "multipart/form-data; boundary=b" },
      body: text,
    });
    expect(response.status).toBe(200);
    expect(((await response.json()) as { content: string }).content).toBe('"Hi"');
  });

  test("may have files of exactly the limit in all, and a message besides", async () => {
    const sizes: AgentFunction = async (_, { files }) => files.map(({ size }) => size).join("+");
    const server = await serveRest(sizes, { limits: { fileBytes: 50_000, uploadBytes: 100_000 } });
    const half = file("x".repeat(50_000), "a.txt", "text/plain");
    const message = "Hi ".repeat(3_000);
    const fits = await server.post(path, form({ message }, [half, half]));
    expect(fits.status).toBe(200);
    expect(((await fits.json()) as { content: string }).content).toBe("50000+50000");
    const one = file("x", "b.txt", "text/plain");
    const more = await server.post(path, form({ message }, [half, half, one]));
    expect(more.status).toBe(413);
    expect(await problemOf(more)).toMatchObject({ code: "payload-too-large" });
  });

  test("may not have endless fields", async () => {
    const server = await serveRest(async () => "fine");
    const response = await server.post(path, form({ message: "x".repeat(600_000) }, []));
    expect(response.status).toBe(413);
  });

  const edge = "--b\r\n";
  const part = (head: string, text: string): string =>
    `${edge}content-disposition: form-data; ${head}\r\n\r\n${text}\r\n`;
  const message = part('name="message"', "Hi");

  test.for<[string, string, string]>([
    ["that ends early", message, "it ends before its last boundary."],
    ["that ends in a header", `${edge}content-disp`, "it ends before its last boundary."],
    ["of nothing", "", "it ends before its last boundary."],
    ["of something else", '{"message":"Hi"}', "it does not begin with its boundary."],
    ["with a field twice", `${message}${message}--b--`, 'the field "message" appears twice.'],
    [
      "with files that are none",
      `${part('name="files"', "x")}--b--`,
      '"files" must be files, with a filename each.',
    ],
    [
      "with files elsewhere",
      `${part('name="upload"; filename="a.txt"', "x")}--b--`,
      'files must be sent as "files", not "upload".',
    ],
    [
      "with endless headers",
      `${edge}x: ${"y".repeat(9_000)}`,
      "a part has more than 8192 bytes of headers.",
    ],
    [
      "with too many fields",
      `${Array.from({ length: 40 }, (_, index) => part(`name="f${index}"`, "x")).join("")}--b--`,
      "it has more than 16 fields and 10 files.",
    ],
  ])("%s is refused", async ([, body, reason]) => {
    const server = shared();
    const headers = { "content-type": "multipart/form-data; boundary=b" };
    const response = await fetch(server.url + path, { method: "POST", headers, body });
    expect(response.status).toBe(400);
    expect(await problemOf(response)).toMatchObject({
      code: "invalid-request",
      detail: `The multipart body is not valid: ${reason}`,
    });
  });

  test.for([
    ["in a field", Buffer.from(part('name="message"', "\u00ff"), "latin1")],
    ["in a header", Buffer.from(part('name="\u00ff"', "x"), "latin1")],
  ] as const)("that is not UTF-8 %s is refused", async ([, bytes]) => {
    const server = shared();
    const headers = { "content-type": 'multipart/form-data; boundary="b"' };
    const body = Buffer.concat([bytes, Buffer.from("--b--\r\n")]);
    const response = await fetch(server.url + path, { method: "POST", headers, body });
    expect(response.status).toBe(400);
    expect(await problemOf(response)).toMatchObject({
      detail: "The multipart body is not valid: a field or a header is not valid UTF-8.",
    });
  });

  test.for(["multipart/form-data", `multipart/form-data; boundary=${"b".repeat(71)}`])(
    "of type %s has no boundary",
    async (type) => {
      const server = shared();
      const headers = { "content-type": type };
      const response = await fetch(server.url + path, { method: "POST", headers, body: "x" });
      expect(response.status).toBe(400);
      expect((await problemOf(response)).detail).toContain("boundary of 1 to 70 characters");
    },
  );

  test("is read the same, however its bytes arrive", async () => {
    const handler = createAgentHandler(
      { helper: clerk },
      { protocols: [rest()], logger: silentLogger },
    );
    const body = Buffer.from(
      `${message}${part('name="files"; filename="a.txt"', "\r\n--a\r-\r\n--")}--b--\r\nepilogue`,
    );
    const cuts = fc.uniqueArray(fc.integer({ min: 1, max: body.length - 1 }), { maxLength: 30 });
    await fc.assert(
      fc.asyncProperty(cuts, fc.option(fc.nat(body.length - 14)), async (at, end) => {
        const whole = body.subarray(0, end ?? body.length);
        const edges = [0, ...at.filter((cut) => cut < whole.length).toSorted((a, b) => a - b)];
        const pieces = edges.map((from, index) => whole.subarray(from, edges[index + 1]));
        const request = new Request(`http://test.local${path}`, {
          method: "POST",
          headers: { "content-type": "multipart/form-data; boundary=b" },
          body: toStream(pieces),
          duplex: "half",
        } as RequestInit);
        const response = await handler.fetch(request);
        const answer = (await response.json()) as { content: string };
        if (end !== null) {
          expect(response.status).toBe(400);
          return;
        }
        expect(JSON.parse(answer.content)).toMatchObject({
          content: "Hi\n\n## File: a.txt\n\r\n--a\r-\r\n--",
          files: [{ bytes: "\r\n--a\r-\r\n--" }],
        });
      }),
      { numRuns },
    );
    await handler.close();
  });
});

describe("an upload that is too large", () => {
  const limits = { fileBytes: 64 * 1024, uploadBytes: 96 * 1024 };
  const head =
    '--b\r\ncontent-disposition: form-data; name="files"; filename="a.pdf"\r\n' +
    "content-type: application/pdf\r\n\r\n";
  const boundary = "multipart/form-data; boundary=b";

  /** A body without end, and how many of its bytes were asked for. */
  function endless(
    chunkBytes: number,
    fileBytes: number,
  ): { body: ReadableStream; read: () => number } {
    let read = 0;
    const body = new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          const isStart = read % fileBytes === 0;
          const chunk = isStart ? Buffer.from(`${read === 0 ? "" : "\r\n"}${head}`) : undefined;
          if (chunk) controller.enqueue(chunk);
          controller.enqueue(new Uint8Array(chunkBytes));
          read += chunkBytes;
        },
      },
      { highWaterMark: 0 },
    );
    return { body, read: () => read };
  }

  test.for([
    ["one file", Number.POSITIVE_INFINITY, 64 * 1024, "A file is larger than 65536 bytes."],
    ["all files together", 32 * 1024, 96 * 1024, "The upload is larger than 98304 bytes."],
  ] as const)("is refused before the rest is read: %s", async ([, each, limit, detail]) => {
    const chunkBytes = 8 * 1024;
    const handler = createAgentHandler(
      { helper: clerk },
      { protocols: [rest()], logger: silentLogger, limits },
    );
    const { body, read } = endless(chunkBytes, each);
    const response = await handler.fetch(
      new Request(`http://test.local${path}`, {
        method: "POST",
        headers: { "content-type": boundary },
        body,
        duplex: "half",
      } as RequestInit),
    );
    expect(response.status).toBe(413);
    expect(await problemOf(response)).toMatchObject({ code: "payload-too-large", detail });
    // What is over the limit is noticed in the chunk that goes over it.
    expect(read()).toBeLessThanOrEqual(limit + 2 * chunkBytes);
    await handler.close();
  });

  test("is refused unread when its length header is too large", async () => {
    const handler = createAgentHandler(
      { helper: clerk },
      { protocols: [rest()], logger: silentLogger, limits },
    );
    const { body, read } = endless(1024, Number.POSITIVE_INFINITY);
    const response = await handler.fetch(
      new Request(`http://test.local${path}`, {
        method: "POST",
        headers: { "content-type": boundary, "content-length": "999999999" },
        body,
        duplex: "half",
      } as RequestInit),
    );
    expect(response.status).toBe(413);
    expect(read()).toBe(0);
    await handler.close();
  });

  test("gets its answer on the connection it is still sending on", async () => {
    const server = await serveRest(clerk, { limits });
    const socket = connect(server.port, "127.0.0.1");
    let answer = "";
    const ended = new Promise<void>((resolve, reject) => {
      socket.on("data", (data) => (answer += data.toString())).on("end", resolve);
      socket.on("error", reject);
    });
    socket.write(
      `POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-type: ${boundary}\r\n` +
        `content-length: 330000\r\n\r\n${head}`,
    );
    socket.write(Buffer.alloc(200_000));
    await ended;
    socket.destroy();
    expect(answer).toContain("HTTP/1.1 413");
    expect(answer).toContain("A file is larger than 65536 bytes.");
    expect(answer.toLowerCase()).toContain("connection: close");
    expect(await given(server, { message: "Still there?" })).toMatchObject({
      content: "Still there?",
    });
  });

  test("costs nothing when its client leaves in the middle", async () => {
    const server = await serveRest(clerk, { limits });
    const left = deferred();
    server.server.once("connection", (socket) => socket.once("close", () => left.resolve()));
    const socket = connect(server.port, "127.0.0.1");
    socket.write(
      `POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-type: ${boundary}\r\n` +
        `content-length: 50000\r\n\r\n${head}half of it`,
    );
    await new Promise<void>((resolve) => server.server.once("request", () => resolve()));
    socket.destroy();
    await left.promise;
    expect(server.handler.runs.list()).toEqual([]);
    expect(await given(server, { message: "Still there?" })).toMatchObject({
      content: "Still there?",
    });
    expect(server.logged.filter(({ level }) => level === "error")).toEqual([]);
  });
});

describe("the uploads of all clients together", () => {
  test.for(["", "/stream"])(
    "are as many as four of the largest, and make room when their runs end: /chat%s",
    async (suffix) => {
      const begun = [deferred(), deferred(), deferred(), deferred()];
      const go = deferred();
      const agent: AgentFunction = async ({ messages: [asked] }) => {
        const { content } = asked as { content: string };
        begun[Number(content.charAt(0))]?.resolve();
        await go.promise;
        return "done";
      };
      const kibibyte = 1024;
      const server = await serveRest(agent, {
        limits: { uploadBytes: 100 * kibibyte },
        authenticate: ({ headers }) => ({ id: headers.get("x-user")! }),
      });
      const send = (message: string): Promise<Response> =>
        server.post(
          `${path}${suffix}`,
          form({ message }, [file("x".repeat(95 * kibibyte), "a.txt")]),
          { headers: { "x-user": message } },
        );
      const first = begun.map((_, index) => send(String(index)));
      await Promise.all(begun.map(({ promise }) => promise));
      const refused = await send("one too many");
      expect(refused.status).toBe(429);
      expect(refused.headers.get("retry-after")).toBe("5");
      expect(await problemOf(refused)).toMatchObject({ code: "capacity-exceeded" });
      go.resolve();
      for (const response of await Promise.all(first)) {
        expect(response.status).toBe(200);
        expect(await response.text()).toContain("done");
      }
      const later = await send("now");
      expect(later.status).toBe(200);
      await later.text();
    },
  );
});

describe("a form of another site", () => {
  const send = async (server: RestServer, headers: Record<string, string>): Promise<Response> =>
    fetch(server.url + path, { method: "POST", headers, body: form({ message: "Hi" }) });

  test.for<[string, Record<string, string>]>([
    ["another site", { "sec-fetch-site": "cross-site", origin: "https://evil.test" }],
    ["another port of this machine", { "sec-fetch-site": "same-site" }],
    ["an older browser", { origin: "https://evil.test" }],
    ["nowhere", { origin: "null" }],
    [
      "a browser that knows a password",
      { origin: "https://evil.test", authorization: "Basic eA==" },
    ],
  ])("is refused from %s", async ([, headers]) => {
    const seen: string[] = [];
    const server = await serveRest(async () => void seen.push("ran"));
    const response = await send(server, headers);
    expect(response.status).toBe(403);
    expect(await problemOf(response)).toMatchObject({ code: "forbidden" });
    expect(seen).toEqual([]);
  });

  test.for<[string, (host: string) => Record<string, string>]>([
    ["a page of ours", (host) => ({ origin: `http://${host}` })],
    [
      "a page of ours behind a proxy",
      () => ({ "sec-fetch-site": "same-origin", origin: "https://x" }),
    ],
    ["no page at all", () => ({})],
    ["a token", () => ({ "sec-fetch-site": "cross-site", authorization: "Bearer x" })],
    [
      "a page that CORS was asked for",
      () => ({ origin: "https://x", "x-requested-with": "fetch" }),
    ],
  ])("is not one from %s", async ([, headers]) => {
    const server = shared();
    const response = await send(server, headers(new URL(server.url).host));
    expect(response.status).toBe(200);
  });
});

import { AgentError } from "@holodeck/agui-core";
import type { AgentFunction } from "@holodeck/agui-core";
import { describe, expect, test } from "vitest";
import { clients } from "./_clients.ts";
import { cutAfter } from "./_cutting-proxy.ts";
import { serveOpenAi } from "./_kit.ts";
import type { OpenAiServer } from "./_kit.ts";

interface Served extends OpenAiServer {
  /** Resolves when the signal of a run was aborted. */
  readonly stopped: Promise<void>;
  goOn(): void;
}

/** An agent for each way in which an answer can end. */
async function serveEndings(): Promise<Served> {
  let [stop, goOn] = [(): void => {}, (): void => {}];
  const stopped = new Promise<void>((resolve) => (stop = resolve));
  const resumed = new Promise<void>((resolve) => (goOn = resolve));
  const half: AgentFunction = async function* (_input, { signal }) {
    const aborted = new Promise<void>((resolve) => {
      signal.addEventListener("abort", () => resolve());
    });
    void aborted.then(stop);
    yield "half of it";
    await Promise.race([resumed, aborted]);
    yield " and the rest";
  };
  const agents: Record<string, AgentFunction> = {
    half,
    async refusing() {
      throw new AgentError("acme/quota", "No more today.", { status: 402 });
    },
    async broken() {
      throw new Error("connect postgres://user:hunter2@db");
    },
    async *breaking() {
      yield "half of it";
      throw new Error("connect postgres://user:hunter2@db");
    },
    async *telling() {
      yield "half of it";
      throw new AgentError("acme/quota", "No more today.");
    },
  };
  return Object.assign(await serveOpenAi(agents), { stopped, goOn });
}

/** What a client shows of an answer: its text, and all the words of its error. */
async function read(
  pieces: AsyncIterable<string>,
  look: (text: string) => void = () => {},
): Promise<{ text: string; error: unknown; words: string }> {
  let text = "";
  try {
    for await (const piece of pieces) {
      text += piece;
      look(text);
    }
    return { text, error: undefined, words: "" };
  } catch (error) {
    return { text, error, words: `${String(error)} ${wordsOf(error)}` };
  }
}

function wordsOf(error: unknown): string {
  const { message, cause, ...rest } = Object(error) as { message?: string; cause?: unknown };
  return JSON.stringify([message, rest, cause === undefined ? "" : wordsOf(cause)]);
}

describe.for(clients.map((client) => [client.name, client] as const))("%s", ([, client]) => {
  const { failures } = client;

  test("throws what an agent refuses before the first byte", async () => {
    const { baseURL } = await serveEndings();
    const { text, error, words } = await read(client.stream({ baseURL, model: "refusing" }));
    expect(text).toBe("");
    expect(error !== undefined).toBe(failures !== "hidden");
    if (failures === undefined) expect(words).toContain("No more today.");
  });

  test.for(["broken", "breaking"])("throws a masked error: %s", async (model) => {
    const { baseURL } = await serveEndings();
    const { text, error, words } = await read(client.stream({ baseURL, model }));
    expect(text).toBe(model === "breaking" ? "half of it" : "");
    expect(error !== undefined).toBe(failures !== "hidden");
    expect(words).not.toContain("hunter2");
  });

  test("has the text before an error, and the error's own words", async () => {
    const { baseURL } = await serveEndings();
    const { text, words } = await read(client.stream({ baseURL, model: "telling" }));
    expect(text).toBe("half of it");
    if (failures === undefined) expect(words).toContain("No more today.");
  });

  test("throws when its connection is cut, and the run is stopped", async () => {
    const { baseURL, stopped } = await serveEndings();
    const proxy = await cutAfter(baseURL, "half of it");
    const { text, error } = await read(client.stream({ baseURL: proxy.baseURL, model: "half" }));
    expect("half of it".startsWith(text)).toBe(true);
    expect(error).toBeDefined();
    expect(proxy.cuts).toBe(1);
    await stopped;
  });

  test("stops the run when it stops reading", async () => {
    const { baseURL, stopped } = await serveEndings();
    const stopping = new AbortController();
    const reading = read(
      client.stream({ baseURL, model: "half", signal: stopping.signal }),
      (text) => text === "half of it" && stopping.abort(),
    );
    await stopped;
    expect((await reading).text).not.toContain("the rest");
  });

  test("reads the whole answer of an agent that takes its time", async () => {
    const { baseURL, goOn } = await serveEndings();
    const { text, error } = await read(
      client.stream({ baseURL, model: "half" }),
      (soFar) => soFar === "half of it" && goOn(),
    );
    expect({ text, error }).toEqual({ text: "half of it and the rest", error: undefined });
  });
});

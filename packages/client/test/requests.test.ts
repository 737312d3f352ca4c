import { afterEach, describe, expect, test, vi } from "vitest";
import { resumable } from "../src/index.ts";
import { endAll, watchRejections } from "./_server.ts";

afterEach(endAll);

afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

type Answer = Response | Error | Promise<never>;

/** A fetch with these answers, one after the other, that keeps what it was asked. */
function scripted(...answers: (Answer | ((init: RequestInit) => Answer))[]) {
  const asked: { url: string; headers: Record<string, string> }[] = [];
  const fetch = async (input: RequestInfo | URL, init: RequestInit = {}): Promise<Response> => {
    const url = input instanceof Request ? input.url : String(input);
    asked.push({ url, headers: Object.fromEntries(new Headers(init.headers)) });
    init.signal?.throwIfAborted();
    const next = answers.shift() ?? new Error("There are no more answers.");
    const answer = typeof next === "function" ? next(init) : next;
    if (answer instanceof Error) throw answer;
    return answer;
  };
  return { fetch, asked };
}

/** A stream of server-sent events that ends, or breaks. */
function events(text: string, failure?: Error): Response {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(new TextEncoder().encode(text));
    },
    pull(controller) {
      if (failure) controller.error(failure);
      else controller.close();
    },
  });
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}

const lost = new TypeError("terminated");
const first = 'id: 1\ndata: {"type":"RUN_STARTED"}\n\n';
const last = 'id: 2\ndata: {"type":"RUN_FINISHED"}\n\n';
const run: RequestInit = { method: "POST", body: '{"runId":"r"}' };
const quick = { delayMs: 1 };

describe("resumable", () => {
  test("repeats the request with the last id, and passes on each frame once", async () => {
    const { fetch, asked } = scripted(events(`${first}id: 2\nda`, lost), events(last));
    const response = await resumable(fetch, quick)("/agui", {
      ...run,
      headers: { authorization: "Bearer x" },
    });
    expect(await response.text()).toBe(first + last);
    expect(asked).toEqual([
      { url: "/agui", headers: { authorization: "Bearer x" } },
      { url: "/agui", headers: { authorization: "Bearer x", "last-event-id": "1" } },
    ]);
  });

  test("begins again when the connection is lost before the first event", async () => {
    const { fetch, asked } = scripted(events("", lost), events("id: 1\nda", lost), events(last));
    expect(await (await resumable(fetch, quick)("/agui", run)).text()).toBe(last);
    expect(asked.map(({ headers }) => headers["last-event-id"])).toEqual([undefined, "0", "0"]);
  });

  test("treats an end without a terminal event as a cut", async () => {
    const { fetch, asked } = scripted(events(first), events(last));
    expect(await (await resumable(fetch, quick)("/agui", run)).text()).toBe(first + last);
    expect(asked).toHaveLength(2);
  });

  test("is not misled by a text that looks like an end", async () => {
    const text = `id: 2\ndata: ${JSON.stringify({ type: "CUSTOM", value: { type: "RUN_FINISHED" } })}\n\n`;
    const end = 'id: 3\ndata: {"timestamp":1,"type":"RUN_ERROR"}\n\n';
    const { fetch } = scripted(events(first + text), events(end));
    expect(await (await resumable(fetch, quick)("/agui", run)).text()).toBe(first + text + end);
  });

  test("holds the frames of an entry until the one with its id has come", async () => {
    const step = 'data: {"type":"start-step"}\n\n';
    const rest = `${step}id: 2\ndata: {"type":"text-start","id":"a"}\n\n`;
    const { fetch } = scripted(events(first + step, lost), events(`${rest}data: [DONE]\n\n`));
    const response = await resumable(fetch, quick)("/api/chat", run);
    expect(await response.text()).toBe(`${first}${rest}data: [DONE]\n\n`);
  });

  test("leaves a cut after the end alone", async () => {
    const { fetch, asked } = scripted(events(first + last, lost));
    expect(await (await resumable(fetch, quick)("/agui", run)).text()).toBe(first + last);
    expect(asked).toHaveLength(1);
  });

  test("passes on what has no ids, with its end or its failure", async () => {
    const plain = "event: note\ndata: a\ndata: b\n\n";
    const { fetch, asked } = scripted(events(plain), events(plain, lost));
    const resuming = resumable(fetch, quick);
    expect(await (await resuming("/agui", run)).text()).toBe(plain);
    await expect((await resuming("/agui", run)).text()).rejects.toThrow("terminated");
    expect(asked).toHaveLength(2);
  });

  test.for([
    ["another type", new Response("{}", { headers: { "content-type": "application/json" } })],
    ["a refusal", new Response("no", { status: 409 })],
    ["a failure of the server", new Response("no", { status: 500 })],
    ["no content", new Response(null, { status: 204 })],
  ] as const)("passes on %s as it is", async ([, response]) => {
    const { fetch, asked } = scripted(response);
    expect(await resumable(fetch, quick)("/agui", run)).toBe(response);
    expect(asked).toHaveLength(1);
  });

  test.for([400, 401, 404, 409, 410])("stops at %i", async (status) => {
    watchRejections();
    const { fetch, asked } = scripted(events(first, lost), new Response("no", { status }));
    const response = await resumable(fetch, quick)("/agui", run);
    await expect(response.text()).rejects.toThrow(`HTTP ${status}`);
    expect(asked).toHaveLength(2);
  });

  test.for([502, 503, 504])("tries again after %i", async (status) => {
    const away = new Response("away", { status });
    const { fetch, asked } = scripted(away.clone(), events(first, lost), away, events(last));
    expect(await (await resumable(fetch, quick)("/agui", run)).text()).toBe(first + last);
    expect(asked.map(({ headers }) => headers["last-event-id"])).toEqual([
      undefined,
      "0",
      "1",
      "1",
    ]);
  });

  test("gives up after as many attempts in a row as it may make", async () => {
    watchRejections();
    const cut = (): Response => events("", lost);
    const { fetch, asked } = scripted(events(first, lost), cut, cut, cut, cut);
    const response = await resumable(fetch, { ...quick, retries: 3 })("/agui", run);
    await expect(response.text()).rejects.toThrow("terminated");
    expect(asked).toHaveLength(4);
  });

  test("counts from the start when something new has come", async () => {
    const frame = (id: number): string => `id: ${id}\ndata: {"type":"CUSTOM"}\n\n`;
    const answers = [1, 2, 3, 4, 5, 6].map((id) => events(frame(id), lost));
    const { fetch } = scripted(...answers, events('id: 7\ndata: {"type":"RUN_FINISHED"}\n\n'));
    const response = await resumable(fetch, { ...quick, retries: 1 })("/agui", run);
    expect(await response.text()).toContain("RUN_FINISHED");
  });

  test("waits longer each time, up to eight seconds, and never the same time", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const waits: number[] = [];
    const real = globalThis.setTimeout;
    vi.stubGlobal("setTimeout", (work: () => void, ms: number) => {
      waits.push(ms);
      return real(work, ms);
    });
    const { fetch } = scripted(...Array.from({ length: 9 }, () => lost));
    const asking = expect(resumable(fetch)("/agui", run)).rejects.toThrow("terminated");
    await vi.runAllTimersAsync();
    await asking;
    const longest = [250, 500, 1000, 2000, 4000, 8000, 8000, 8000];
    expect(waits).toHaveLength(longest.length);
    for (const [index, ms] of waits.entries()) {
      expect(ms).toBeGreaterThan(longest[index]! / 2 - 1);
      expect(ms).toBeLessThanOrEqual(longest[index]!);
    }
    expect(new Set(waits.map((ms, index) => ms / longest[index]!)).size).toBeGreaterThan(1);
  });
});

describe("an aborted request", () => {
  test("ends while it waits for its next attempt", async () => {
    watchRejections();
    const stop = new AbortController();
    const { fetch, asked } = scripted(events(first, lost));
    const resuming = resumable(fetch, { delayMs: 1e9 });
    const reader = (await resuming("/agui", { ...run, signal: stop.signal })).body!.getReader();
    expect(new TextDecoder().decode((await reader.read()).value)).toBe(first);
    const reading = reader.read();
    await expect.poll(() => asked.length).toBe(1);
    stop.abort();
    await expect(reading).rejects.toMatchObject({ name: "AbortError" });
    await reader.cancel();
  });

  test("is not tried again", async () => {
    const stop = new AbortController();
    const { fetch, asked } = scripted(() => {
      stop.abort();
      return new DOMException("This operation was aborted", "AbortError");
    });
    const asking = resumable(fetch, quick)("/agui", { ...run, signal: stop.signal });
    await expect(asking).rejects.toMatchObject({ name: "AbortError" });
    const late = resumable(fetch, quick)("/agui", { ...run, signal: stop.signal });
    await expect(late).rejects.toMatchObject({ name: "AbortError" });
    expect(asked).toHaveLength(2);
  });

  test("is what a client leaves behind that cancels its stream", async () => {
    watchRejections();
    let signal: AbortSignal | null | undefined;
    const { fetch, asked } = scripted((init) => {
      ({ signal } = init);
      return events(first, lost);
    });
    const response = await resumable(fetch, { delayMs: 1e9 })("/agui", run);
    const reader = response.body!.getReader();
    await reader.read();
    const reading = reader.read();
    await reader.cancel();
    expect(signal?.aborted).toBe(true);
    expect((await reading).done).toBe(true);
    expect(asked).toHaveLength(1);
  });
});

describe("a request without a run id", () => {
  const chat: RequestInit = { method: "POST", body: '{"id":"c","messages":[]}' };
  const key = "idempotency-key";

  test("gets a key, the same for each copy and another one for each request", async () => {
    const done = "id: 2\ndata: [DONE]\n\n";
    const { fetch, asked } = scripted(lost, events(first, lost), events(done), events(done));
    const resuming = resumable(fetch, quick);
    await (await resuming("/api/chat", chat)).text();
    await (await resuming("/api/chat", chat)).text();
    const keys = asked.map(({ headers }) => headers[key]);
    expect(keys[0]).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    expect(keys.slice(1, 3)).toEqual([keys[0], keys[0]]);
    expect(keys[3]).not.toBe(keys[0]);
  });

  test("gets one where there is no randomUUID, as on a page without TLS", async () => {
    vi.stubGlobal("crypto", {});
    const { fetch, asked } = scripted(events("data: [DONE]\n\n"));
    await resumable(fetch, quick)("/api/chat", chat);
    expect(asked[0]!.headers[key]).toMatch(
      /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    );
  });

  test.for([
    ["a GET", {}],
    ["a form", { method: "POST", body: new URLSearchParams("a=1") }],
    ["a text", { method: "POST", body: "no JSON" }],
  ] as const)("gets none when it is %s", async ([, init]) => {
    const { fetch, asked } = scripted(events(last));
    await resumable(fetch, quick)("/any", init);
    expect(asked[0]!.headers[key]).toBeUndefined();
  });

  test("is sent once when its body is a stream", async () => {
    const { fetch, asked } = scripted(events(first, lost));
    const body = new ReadableStream();
    const response = await resumable(fetch, quick)("/any", { method: "POST", body });
    await expect(response.text()).rejects.toThrow("terminated");
    expect(asked).toHaveLength(1);
  });
});

describe("other forms of a request", () => {
  test("may be a Request", async () => {
    const { fetch, asked } = scripted(events(first, lost), events(last));
    const request = new Request("http://host/agui", { ...run, headers: { "x-a": "1" } });
    expect(await (await resumable(fetch, quick)(request)).text()).toBe(first + last);
    expect(asked.map(({ headers }) => headers["x-a"])).toEqual(["1", "1"]);
  });

  test("may be a URL, and the response keeps its status and headers", async () => {
    const { fetch } = scripted(events(last));
    const response = await resumable(fetch, quick)(new URL("http://host/agui"), run);
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("text/event-stream");
  });
});

test("needs only readers, as in React Native", async () => {
  const encoder = new TextEncoder();
  const native = (text: string, failure?: Error): Response => {
    const chunks = [encoder.encode(text.slice(0, 5)), encoder.encode(text.slice(5))];
    const read = async (): Promise<object> => {
      const value = chunks.shift();
      if (!value && failure) throw failure;
      return { done: !value, value };
    };
    const reader = { read, cancel: async () => {}, releaseLock() {} };
    const headers = new Headers({ "content-type": "text/event-stream" });
    return { ok: true, status: 200, headers, body: { getReader: () => reader } } as never;
  };
  const { fetch } = scripted(native(`${first}id: 2\nda`, lost), native(last));
  vi.stubGlobal("ReadableStream", undefined);
  vi.stubGlobal("Response", undefined);
  vi.stubGlobal("crypto", undefined);
  const { body } = await resumable(fetch, quick)("/agui", { method: "POST", body: "{}" });
  const reader = body!.getReader();
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    text += new TextDecoder().decode(value);
  }
  await reader.cancel();
  reader.releaseLock();
  expect(text).toBe(first + last);
});

import type { AgentFunction, Json } from "@holodeck/agui-core";
import { readSse } from "@holodeck/agui-testing";
import { describe, expect, test } from "vitest";
import { serveOpenAi, user } from "./_kit.ts";

interface Gate {
  readonly opened: Promise<void>;
  open(): void;
}

function gate(): Gate {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open };
}

/** Sends one word, waits, and sends the rest. */
function patient(waiting: Gate, aborted?: Gate): AgentFunction {
  return async function* (_, { signal }) {
    signal.addEventListener("abort", () => aborted?.open());
    yield "one ";
    await Promise.race([
      waiting.opened,
      new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve())),
    ]);
    yield "two ";
    yield "three";
  };
}

async function* events(response: Response): AsyncGenerator<Json> {
  expect(response.status).toBe(200);
  for await (const { data } of readSse(response)) {
    if (data !== "[DONE]") yield JSON.parse(data) as Json;
  }
}

async function all(response: Response): Promise<Json[]> {
  const list = [];
  for await (const event of events(response)) list.push(event);
  return list;
}

describe("a response in the background", () => {
  test("goes on without a client, and is found when it is complete", async () => {
    const waiting = gate();
    const server = await serveOpenAi(patient(waiting));
    const started = (await (
      await server.post("/responses", { input: "Hi", background: true })
    ).json()) as Json;
    expect(started).toMatchObject({ status: "in_progress", background: true, output: [] });
    const path = `/responses/${String(started.id)}`;
    expect(await (await server.get(path)).json()).toMatchObject({ status: "in_progress" });
    waiting.open();
    const rest = await all(await server.get(`${path}?stream=true`));
    expect(rest.at(-1)).toMatchObject({ type: "response.completed" });
    expect(await (await server.get(path)).json()).toMatchObject({
      status: "completed",
      output: [{ content: [{ text: "one two three" }] }],
    });
  });

  test("survives the client that started its stream, who resumes it after any event", async () => {
    const waiting = gate();
    const server = await serveOpenAi(patient(waiting));
    const response = await server.post("/responses", {
      input: "Hi",
      background: true,
      stream: true,
    });
    const seen: Json[] = [];
    for await (const event of events(response)) {
      seen.push(event);
      if (event.type === "response.output_text.delta") break;
    }
    await response.body!.cancel().catch(() => {});
    waiting.open();
    const { id } = seen[0]!.response as { id: string };
    const path = `/responses/${id}?stream=true&starting_after=`;
    const last = seen.at(-1)!.sequence_number as number;
    const rest = await all(await server.get(path + last));
    expect(rest[0]!.sequence_number).toBe(last + 1);
    const whole = await all(await server.get(`/responses/${id}?stream=true`));
    expect([...seen, ...rest]).toEqual(whole);
    for (const [index] of whole.entries()) {
      expect(await all(await server.get(path + index))).toEqual(whole.slice(index + 1));
    }
  });

  test("is not replaced by the next request of its thread", async () => {
    const waiting = gate();
    const server = await serveOpenAi(patient(waiting));
    const body = { input: "Hi", background: true, conversation: "t-1" };
    const started = (await (await server.post("/responses", body)).json()) as { id: string };
    const second = await server.post("/responses", { input: "Again", conversation: "t-1" });
    expect(second.status).toBe(409);
    expect(await second.json()).toMatchObject({ error: { code: "thread_busy" } });
    waiting.open();
    const rest = await all(await server.get(`/responses/${started.id}?stream=true`));
    expect(rest.at(-1)).toMatchObject({ type: "response.completed" });
  });

  test("is cancelled, and stays so", async () => {
    const [waiting, aborted] = [gate(), gate()];
    const server = await serveOpenAi(patient(waiting, aborted));
    const body = { input: "Hi", background: true };
    const { id } = (await (await server.post("/responses", body)).json()) as { id: string };
    for (const _ of [1, 2]) {
      const cancelled = await server.post(`/responses/${id}/cancel`, {});
      expect(await cancelled.json()).toMatchObject({
        status: "cancelled",
        output: [{ content: [{ text: "one " }] }],
      });
    }
    await aborted.opened;
    expect((await all(await server.get(`/responses/${id}?stream=true`))).at(-1)).toMatchObject({
      type: "response.incomplete",
      response: { status: "cancelled" },
    });
  });
});

describe("a client that leaves", () => {
  test.for(["/responses", "/chat/completions"])("stops its answer at %s", async (path) => {
    const [waiting, aborted] = [gate(), gate()];
    const server = await serveOpenAi(patient(waiting, aborted));
    const messages = [{ role: "user", content: "Hi" }];
    const response = await server.post(path, { input: "Hi", messages, stream: true });
    for await (const event of events(response)) if (JSON.stringify(event).includes("one ")) break;
    await response.body!.cancel().catch(() => {});
    await aborted.opened;
  });
});

describe("a response of another principal", () => {
  test("is not found by its id, its items or its thread", async () => {
    const server = await serveOpenAi(
      async function* ({ messages }) {
        yield `${messages.length} messages`;
      },
      { authenticate: ({ headers }) => ({ id: headers.get("x-user") ?? "" }) },
    );
    const ada = { "x-user": "ada" };
    const eve = { "x-user": "eve" };
    const body = { input: "secret", conversation: "t-1" };
    const { id, output } = (await (await server.post("/responses", body, ada)).json()) as {
      id: string;
      output: { id: string }[];
    };
    for (const path of [id, `${id}?stream=true`, `${id}/input_items`]) {
      expect((await server.get(`/responses/${path}`, ada)).status).toBe(200);
      const refused = await server.get(`/responses/${path}`, eve);
      expect(refused.status).toBe(404);
      expect(await refused.text()).not.toContain("secret");
    }
    expect((await server.post(`/responses/${id}/cancel`, {}, eve)).status).toBe(404);
    const reference = [{ type: "item_reference", id: output[0]!.id }];
    for (const attempt of [
      { input: "x", previous_response_id: id },
      { input: [...reference, { role: "user", content: "x" }] },
    ]) {
      expect((await server.post("/responses", attempt, ada)).status).toBe(200);
      expect((await server.post("/responses", attempt, eve)).status).toBe(404);
    }
    // The same name is another thread.
    const own = await (await server.post("/responses", { ...body, input: "x" }, eve)).json();
    expect(own.output[0].content[0].text).toBe("1 messages");
  });

  test.for([
    ["a response", "/responses", { input: "Hi" }],
    ["a response of a conversation", "/responses", { input: "Hi", conversation: "case-18" }],
    ["a completion", "/chat/completions", { messages: [user("Hi")] }],
    [
      "a completion on a thread",
      "/chat/completions",
      { messages: [user("Hi")], metadata: { thread_id: "case-18" } },
    ],
  ] as const)("has ids that show no principal, thread or run: %s", async ([, path, body]) => {
    const secrets: string[] = ["user-1815"];
    const server = await serveOpenAi(
      async function* ({ threadId, runId }, { emit }) {
        secrets.push(threadId, runId);
        await emit.reasoning("Hm.");
        yield "Hello";
      },
      { authenticate: () => ({ id: "user-1815" }) },
    );
    for (const stream of [false, true]) {
      const text = await (await server.post(path, { ...body, stream })).text();
      // A client may see the name that it has given itself.
      const shown = text.replaceAll('"case-18"', "");
      for (const secret of secrets) expect(shown.toLowerCase()).not.toContain(secret.toLowerCase());
    }
    expect(new Set(secrets).size).toBeGreaterThanOrEqual(4);
  });

  test("is found by the whole id only", async () => {
    const server = await serveOpenAi(async () => "Hi");
    const { id } = (await (await server.post("/responses", { input: "Hi" })).json()) as Json;
    const other = (await (await server.post("/responses", { input: "Hi" })).json()) as Json;
    const [first, second] = [String(id), String(other.id)];
    expect((await server.get(`/responses/${first}`)).status).toBe(200);
    const forged = [
      first.slice(0, -26),
      first.slice(0, -1),
      `${first}0`,
      first.toLowerCase(),
      first.slice(0, -26) + second.slice(-26),
    ];
    for (const one of forged) {
      expect((await server.get(`/responses/${one}`)).status).toBe(404);
      expect((await server.post(`/responses/${one}/cancel`, {})).status).toBe(404);
      expect(
        (await server.post("/responses", { input: "x", previous_response_id: one })).status,
      ).toBe(404);
    }
  });

  test.for(["resp_", "resp_x", "x", "resp_00000000000000000000000000", "__proto__"])(
    "is as unknown as the id %j",
    async (id) => {
      const server = await serveOpenAi(async () => "Hi");
      const response = await server.get(`/responses/${id}`);
      expect(response.status).toBe(404);
      expect(await response.json()).toMatchObject({ error: { code: "response_not_found" } });
    },
  );
});

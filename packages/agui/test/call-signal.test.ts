import { deriveCall, silentLogger } from "@holodeck/agui-core";
import type { Call, Protocol, Reply } from "@holodeck/agui-core";
import { createAgentHandler } from "@holodeck/agui";
import { describe, expect, test } from "vitest";
import { deferred } from "./_helpers.ts";

function serving(handle: (call: Call) => Promise<Reply>) {
  const protocol: Protocol = {
    name: "waiting",
    history: "client",
    routes: () => [{ method: "GET", path: "/wait", handle }],
  };
  const handler = createAgentHandler(async () => undefined, {
    logger: silentLogger,
    protocols: [protocol],
  });
  return (signal?: AbortSignal, query = ""): Promise<Response> =>
    handler.fetch(new Request(`http://test.local/wait${query}`, signal ? { signal } : {}));
}

describe("the signal of a call", () => {
  test("is aborted when the client leaves, and is the same for calls derived from it", async () => {
    const asked = deferred<Call>();
    const left = deferred();
    const get = serving(async (call) => {
      asked.resolve(call);
      await left.promise;
      return { status: 204 };
    });
    const leaving = new AbortController();
    const answer = get(leaving.signal);
    const call = await asked.promise;
    const derived = deriveCall(call, { body: 1 });
    const { signal } = derived;
    expect(signal.aborted).toBe(false);
    expect([call.signal === signal, derived.signal === signal]).toEqual([true, true]);
    signal.addEventListener("abort", () => left.resolve(undefined));
    leaving.abort();
    await answer;
    expect(signal.aborted).toBe(true);
  });

  test("is aborted from the start when the client has left before", async () => {
    const seen: boolean[] = [];
    await serving(async ({ signal }) => {
      seen.push(signal.aborted);
      return { status: 204 };
    })(AbortSignal.abort());
    expect(seen).toEqual([true]);
  });

  test("is not aborted by a client that has received its answer", async () => {
    const asked = deferred<AbortSignal>();
    const get = serving(async ({ signal }) => {
      asked.resolve(signal);
      return { status: 200, body: "all" };
    });
    const leaving = new AbortController();
    expect(await (await get(leaving.signal)).text()).toBe("all");
    leaving.abort();
    expect((await asked.promise).aborted).toBe(false);
  });

  test("is reported to listeners without one, also when they are taken out of the call", async () => {
    const asked = deferred();
    const left = deferred();
    const get = serving(async ({ onLeave }) => {
      onLeave(() => left.resolve(undefined));
      asked.resolve(undefined);
      await left.promise;
      return { status: 204 };
    });
    const leaving = new AbortController();
    const answer = get(leaving.signal);
    await asked.promise;
    leaving.abort();
    expect((await answer).status).toBe(204);
  });
});

test("the query of a call is parsed as in its URL, and once", async () => {
  const seen: unknown[] = [];
  const get = serving(async (call) => {
    seen.push([...call.query], call.query === deriveCall(call, { body: 1 }).query);
    return { status: 204 };
  });
  for (const query of ["", "?", "?a=1&b=%20%C3%BC+x&a=2", "??a", "?a=b?c=d", "?a#b?c"]) {
    await get(undefined, query);
    const { searchParams } = new URL(`http://test.local/wait${query}`);
    expect(seen.splice(0)).toEqual([[...searchParams], true]);
  }
});

test("an answer without content has no length, though it was given a body", async () => {
  const get = serving(async () => ({ status: 204, body: "not sent" }));
  const answer = await get();
  expect([answer.status, answer.headers.get("content-length")]).toEqual([204, null]);
});

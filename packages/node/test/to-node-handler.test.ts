import { createServer } from "node:http";
import { afterEach, describe, expect, test, vi } from "vitest";
import { toNodeHandler } from "../src/index.ts";
import type { ToNodeHandlerOptions } from "../src/index.ts";
import { handlerOf } from "./_handler.ts";
import { listen } from "./_listen.ts";
import type { Listening } from "./_listen.ts";

let server: Listening;
afterEach(() => server.close());

const boom = new Error("boom");
const failing = handlerOf(() => {
  throw boom;
});
const elsewhere = handlerOf(() => false);

async function serving(handler: typeof failing, options?: ToNodeHandlerOptions): Promise<string> {
  server = await listen(createServer(toNodeHandler(handler, options)));
  return server.url;
}

/** What `next` was called with. */
async function nextOf(handler: typeof failing): Promise<unknown[]> {
  const handle = toNodeHandler(handler);
  const next = vi.fn();
  server = await listen(
    createServer((req, res) =>
      handle(req, res, (...given) => {
        next(...given);
        res.end();
      }),
    ),
  );
  await fetch(server.url);
  expect(next).toHaveBeenCalledOnce();
  return next.mock.calls[0] ?? [];
}

describe("without next", () => {
  test("answers 404 with a problem where no route is ours", async () => {
    const response = await fetch(`${await serving(elsewhere)}/nowhere?secret=1`);
    expect(response.status).toBe(404);
    expect(response.headers.get("content-type")).toBe("application/problem+json");
    expect(await response.json()).toMatchObject({
      type: "https://holodeck.dev/errors/not-found",
      title: "Not Found",
      status: 404,
      detail: "No route matches GET /nowhere.",
      message: "No route matches GET /nowhere.",
      instance: "/nowhere",
      code: "not-found",
      requestId: expect.stringMatching(/^[0-9A-Z]{26}$/),
    });
  });

  test("shows a failure to the host, not to the client", async () => {
    const onError = vi.fn();
    const response = await fetch(await serving(failing, { onError }));
    expect(response.status).toBe(500);
    expect(await response.text()).not.toContain("boom");
    expect(onError).toHaveBeenCalledExactlyOnceWith(boom);
  });
});

describe("with next", () => {
  test("leaves to the host what is not ours", async () => {
    expect(await nextOf(elsewhere)).toEqual([]);
  });

  test("leaves a failure to the host", async () => {
    expect(await nextOf(failing)).toEqual([boom]);
  });

  test("leaves a failure without a reason to the host, as a failure", async () => {
    const silent = handlerOf(() => Promise.reject());
    expect(await nextOf(silent)).toEqual([expect.any(Error)]);
  });
});

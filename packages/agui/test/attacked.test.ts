import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { effort } from "../../../scripts/test-support/effort.ts";
import { openPlace, placeKinds } from "./_places.ts";
import { sourceFlags } from "../../../scripts/test-support/source-flags.ts";

const MB = 1_000_000;
// In any case more than the heap could hold.
const threads = effort(58, 36);
const bodies = effort(13, 4);
const script = fileURLToPath(new URL("_attacked-child.ts", import.meta.url));

interface Attacked {
  readonly root: string;
  /** How long it works to parse a plain body of 14 MB, in ms. */
  readonly plain: number;
  /** Ends it, and returns how long its event loop was at work in one turn at most. */
  end(): Promise<number>;
}

async function start(kind: string, place: string): Promise<Attacked> {
  const flags = ["--max-old-space-size=400", ...sourceFlags, script];
  const child = spawn(process.execPath, [...flags, kind, place, String(14 * MB)], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const read = async (): Promise<unknown> => JSON.parse((await lines.next()).value as string);
  const { port, plain } = (await read()) as { port: number; plain: number };
  return {
    root: `http://127.0.0.1:${port}`,
    plain,
    async end() {
      const closed = once(child, "close");
      child.stdin.end();
      const { lag } = (await read()) as { lag: number };
      await closed;
      return lag;
    },
  };
}

const input = (threadId: string, rest: string): string =>
  `{"threadId":"${threadId}","runId":"run-${threadId}","tools":[],"context":[],${rest}}`;
const last = `{"id":"u","role":"user","content":"hi"}`;

async function post(root: string, body: string): Promise<number> {
  const headers = { "content-type": "application/json" };
  const response = await fetch(`${root}/agui`, { method: "POST", headers, body });
  await response.text();
  return response.status;
}

const isHealthy = async (root: string): Promise<boolean> => (await fetch(`${root}/health`)).ok;

// A turn of the loop is compared with what any server of ours has to do for one plain body of that size.
const bound = ({ plain }: Attacked): number => Math.max(1_000, 30 * plain);

describe("a server with a heap of 400 MB", () => {
  test("survives more threads of 14 MB than it can hold, and bodies of empty objects", async () => {
    const server = await start("memory", "");
    const text = "x".repeat(13.5 * MB);
    const said = `"messages":[{"id":"a","role":"assistant","content":"${text}"},${last}]`;
    for (let thread = 0; thread < threads; thread++) {
      expect(await post(server.root, input(`t${thread}`, said))).toBe(200);
    }
    expect(await isHealthy(server.root)).toBe(true);
    const objects = `[${"{},".repeat(4.7 * MB - 1)}{}]`;
    const state = `"state":{"a":${objects}},"messages":[${last}]`;
    for (let body = 0; body < bodies; body++) {
      expect(await post(server.root, input(`s${body}`, state))).toBe(413);
    }
    expect(await isHealthy(server.root)).toBe(true);
    const list = (await (await fetch(`${server.root}/agui/threads?limit=100`)).json()) as {
      threads: { id: string }[];
    };
    expect(list.threads.map(({ id }) => id)).toContain(`t${threads - 1}`);
    expect(list.threads.length).toBeLessThan(20);
    expect(await server.end()).toBeLessThan(bound(server));
  }, 300_000);

  test.for(["memory", ...placeKinds] as const)(
    "lists heavy threads on %s",
    { timeout: 300_000 },
    async (kind, { skip }) => {
      const place = kind === "memory" ? undefined : await openPlace(kind, "lists of heavy threads");
      if (kind !== "memory" && !place) return skip();
      onTestFinished(() => place?.close());
      const server = await start(kind, place?.at ?? "");
      const rest = `"state":{"a":"${"x".repeat(1.8 * MB)}"},"messages":[${last}]`;
      for (let thread = 0; thread < 60; thread++) {
        expect(await post(server.root, input(`t${thread}`, rest))).toBe(200);
      }
      const pages = await Promise.all(
        Array.from({ length: 10 }, async () => {
          const response = await fetch(`${server.root}/agui/threads?limit=100`);
          return { status: response.status, text: await response.text() };
        }),
      );
      for (const { status, text } of pages) {
        expect(status).toBe(200);
        expect(text.length).toBeLessThan(100_000);
        expect(text).toContain("t59");
      }
      expect(await isHealthy(server.root)).toBe(true);
      expect(await server.end()).toBeLessThan(bound(server));
    },
  );
});

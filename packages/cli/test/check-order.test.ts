import { HttpAgent } from "@ag-ui/client";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { startServer } from "./_broken-server.ts";
import type { WireEvent } from "./_broken-server.ts";
import { ask } from "../src/check/read/ask.ts";
import { examineRun } from "../src/check/examine-run.ts";
import { createFindings } from "../src/check/report/findings.ts";
import { createRunInput } from "../src/check/read/run-input.ts";

type Mutation = { readonly kind: "drop" | "double" | "swap"; readonly at: number };

// What the client looks at as well. It lets a run without an end, and other ids, pass.
const shared = ["starts", "text", "tool-calls", "reasoning", "steps", "subagents", "chunks"];

let mutations: readonly Mutation[] = [];
let server: Awaited<ReturnType<typeof startServer>>;
beforeAll(async () => {
  server = await startServer({ events: (events) => mutations.reduce(mutate, events) });
});
afterAll(() => server.close());

function mutate(events: WireEvent[], { kind, at }: Mutation): WireEvent[] {
  const place = at % events.length;
  const one = events[place]!;
  const next = events[place + 1];
  if (kind === "drop") return events.toSpliced(place, 1);
  if (kind === "double") return events.toSpliced(place, 0, one);
  return next ? events.toSpliced(place, 2, next, one) : events;
}

async function isReadable(): Promise<boolean> {
  const agent = new HttpAgent({ url: server.url });
  agent.addMessage({ id: "1", role: "user", content: "hello" });
  try {
    await agent.runAgent();
    return true;
  } catch {
    // How it failed is the client's business; that it did is the answer.
    return false;
  }
}

// One stream only: the whole command asks twenty times.
async function findBroken(): Promise<string[]> {
  const input = createRunInput("hello");
  const headers = { "content-type": "application/json" };
  const answer = await ask({
    url: new URL(server.url),
    headers,
    body: JSON.stringify(input),
    timeoutMs: 10_000,
  });
  const findings = createFindings();
  examineRun({ name: "the run", input, answer }, findings, "/");
  return findings.results().flatMap(({ id, verdict }) => (verdict === "breaks" ? id : []));
}

test("breaks in the order of events are those that AG-UI's own client fails on", async () => {
  vi.spyOn(console, "warn").mockImplementation(() => {});
  vi.spyOn(console, "error").mockImplementation(() => {});
  const mutation = fc.record<Mutation>({
    kind: fc.constantFrom("drop", "double", "swap"),
    at: fc.nat(26),
  });
  let failures = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(mutation, { minLength: 1, maxLength: 2 }), async (given) => {
      mutations = given;
      const isRead = await isReadable();
      const broken = await findBroken();
      const ordered = broken.filter((id) => shared.includes(id));
      if (!isRead) failures += 1;
      // What comes after the end is named as such, not by what it would have been before it.
      if (isRead) expect(ordered).toEqual([]);
      else expect(broken).not.toEqual([]);
    }),
    { numRuns: 40 },
  );
  expect(failures).toBeGreaterThan(0);
  vi.restoreAllMocks();
});

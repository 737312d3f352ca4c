import { HttpAgent } from "@ag-ui/client";
import type { RunAgentParameters } from "@ag-ui/client";
import { allowAnonymous, createAgentHandler } from "@holodeck/agui";
import type { BaseEvent, Logger } from "@holodeck/agui";
import { extractFiles } from "@holodeck/agui-files";
import { serve } from "@holodeck/agui-node";
import type { Serving } from "@holodeck/agui-node";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createDemo } from "../src/demo/index.ts";

const warnings: { agentId?: string; runId?: string; repairs?: Record<string, number> }[] = [];
const logger: Logger = {
  debug() {},
  info() {},
  warn: (fields) => warnings.push(fields),
  error() {},
};
let server: Serving;

beforeAll(async () => {
  const { agents, options } = createDemo({ pace: 0 });
  const files = extractFiles();
  const authenticate = allowAnonymous();
  const handler = createAgentHandler(agents, { ...options, authenticate, files, logger });
  server = await serve(handler, { port: 0 });
});

afterAll(() => server.close());

function agentAt(id: string): HttpAgent {
  return new HttpAgent({ url: `${server.url}/agui/agent/${id}/run` });
}

async function run(agent: HttpAgent, parameters: RunAgentParameters = {}): Promise<BaseEvent[]> {
  const events: BaseEvent[] = [];
  await agent.runAgent(parameters, { onEvent: ({ event }) => void events.push(event) });
  return events;
}

function say(agent: HttpAgent, content: unknown): void {
  agent.addMessage({ id: crypto.randomUUID(), role: "user", content } as never);
}

function textOf(events: readonly BaseEvent[]): string {
  return events
    .filter(({ type }) => type === "TEXT_MESSAGE_CONTENT")
    .map(({ delta }) => delta)
    .join("");
}

function suggestionsOf(events: readonly BaseEvent[]): unknown {
  return events.find(({ name }) => name === "suggested_questions")?.value;
}

test("is discovered with its questions", async () => {
  const info = (await (await fetch(`${server.url}/agui/info`)).json()) as {
    agents: Record<string, { name: string; description: string; suggestions: string[] }>;
    defaultAgent: string;
  };
  expect(info.defaultAgent).toBe("demo");
  expect(Object.keys(info.agents)).toEqual(["demo", "sloppy", "echo"]);
  for (const { description, suggestions } of Object.values(info.agents)) {
    expect(description).not.toBe("");
    expect(suggestions.length).toBeGreaterThan(0);
  }
});

test("suggests what it has not just shown", async () => {
  const agent = agentAt("demo");
  say(agent, "Plan a trip");
  const events = await run(agent);
  expect(suggestionsOf(events)).toEqual([
    "Send a mail to ada@example.com",
    "Show me Markdown",
    "Think about why the sky is blue",
  ]);
  expect(agent.state).toMatchObject({ plan: { steps: [{ status: "done" }, {}, {}, {}] } });
});

test("suggests the client's tools to clients that have them, and nothing after a question", async () => {
  const agent = agentAt("demo");
  say(agent, "Show me Markdown");
  const tools = [{ name: "pick_color", description: "A palette", parameters: {} }];
  expect(suggestionsOf(await run(agent, { tools }))).toContain("Let me pick a colour");
  say(agent, "Send a mail");
  expect(suggestionsOf(await run(agent, { tools }))).toBeUndefined();
});

test("sends the mail after a yes from another request", async () => {
  const agent = agentAt("demo");
  say(agent, "Send a mail to ada@example.com");
  const asked = (await run(agent)).at(-1) as unknown as {
    outcome: { type: string; interrupts: { id: string }[] };
  };
  expect(asked.outcome.type).toBe("interrupt");
  const [{ id: interruptId } = { id: "" }] = asked.outcome.interrupts;
  const resume = [{ interruptId, status: "resolved" as const, payload: { approved: true } }];
  expect(textOf(await run(agent, { resume }))).toContain("The mail to ada@example.com is sent.");
});

test("goes on with a colour that the client picked", async () => {
  const agent = agentAt("demo");
  say(agent, "Let me pick a colour");
  const tools = [{ name: "pick_color", description: "A palette", parameters: {} }];
  await run(agent, { tools });
  const calls = agent.messages.flatMap((one) =>
    one.role === "assistant" ? (one.toolCalls ?? []) : [],
  );
  agent.addMessage({
    id: "answer",
    role: "tool",
    toolCallId: calls[0]!.id,
    content: JSON.stringify({ color: "teal" }),
  });
  expect(textOf(await run(agent, { tools }))).toContain("**teal** it is.");
  expect(agent.state).toEqual({ color: { color: "teal" } });
});

test("names and counts a file, and quotes how it begins", async () => {
  const agent = agentAt("demo");
  const text = "one two\nthree\n## File: not one\n```\nfive\nsix\n";
  say(agent, [{ type: "text", text: "What is in it?" }, file("notes.md", "text/markdown", text)]);
  const answer = textOf(await run(agent));
  expect(answer).toContain(`(text/markdown, ${text.length} bytes) has 6 lines and 10 words.`);
  expect(answer).toContain("**notes.md**");
  expect(answer).toContain("````text\none two\nthree\n## File: not one\n```\nfive\n````");
  expect(answer).not.toContain("six");
});

test("reports the size of an image, and of all files only the last message's", async () => {
  const agent = agentAt("demo");
  say(agent, [{ type: "text", text: "a" }, file("a.txt", "text/plain", "alpha")]);
  await run(agent);
  const image = Buffer.from(dot, "base64");
  say(agent, [
    { type: "text", text: "b" },
    file("b.txt", "text/plain", "beta"),
    { ...file("dot.png", "image/png", image), type: "image" },
  ]);
  const answer = textOf(await run(agent));
  expect(answer).toContain("You sent 2 files.");
  expect(answer).toContain("**b.txt** (text/plain, 4 bytes) has 1 line and 1 word.");
  expect(answer).toContain(`**dot.png** (image/png, ${image.length} bytes) is an image.`);
  expect(answer).not.toContain("a.txt");
});

test("masks what it fails with", async () => {
  const agent = agentAt("demo");
  say(agent, "Fail with an error");
  const events: BaseEvent[] = [];
  const failed = agent.runAgent({}, { onEvent: ({ event }) => void events.push(event) });
  await Promise.allSettled([failed]);
  expect(events.at(-1)).toMatchObject({ type: "RUN_ERROR", code: "agent-error" });
  expect(JSON.stringify(events)).not.toContain("db.internal");
});

test("makes a valid run of the sloppy agent's events, and reports the repairs", async () => {
  const agent = agentAt("sloppy");
  say(agent, "hi");
  const events = await run(agent, { runId: "sloppy-run" });
  expect(textOf(events)).toBe(
    "I never began this message, and I will not end it. Still you can read it.",
  );
  expect(events.at(-1)).toMatchObject({ type: "RUN_FINISHED" });
  // They are told when the run is over, which its client may know earlier.
  await expect
    .poll(() => Object.keys(warnings.find(({ runId }) => runId === "sloppy-run")?.repairs ?? {}))
    .toEqual(expect.arrayContaining(["not-started", "left-open", "legacy-thinking", "run-ids"]));
  expect(suggestionsOf(events)).toBeUndefined();
});

test("needs no repairs for any agent but the sloppy one", async () => {
  for (const question of ["Search the archive", "Plan a trip", "Weather", "Think", "Tidy up"]) {
    const agent = agentAt("demo");
    say(agent, question);
    await run(agent);
  }
  expect(warnings.filter(({ agentId }) => agentId !== "sloppy")).toEqual([]);
});

const dot =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

function file(filename: string, mimeType: string, content: string | Uint8Array): object {
  const value = Buffer.from(content).toString("base64");
  return { type: "document", source: { type: "data", value, mimeType }, metadata: { filename } };
}

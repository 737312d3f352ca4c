import { HttpAgent } from "@ag-ui/client";
import { createAgentHandler } from "@holodeck/agui";
import type { AgentHandlerOptions, Logger } from "@holodeck/agui";
import { serve } from "@holodeck/agui-node";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { loadYamlAgent } from "../../src/index.ts";
import type { AgentModule } from "../../src/index.ts";

export const fixtures: string = fileURLToPath(new URL(".", import.meta.url)).replace(/\/$/, "");

/** A folder with these files, gone after the test. */
export async function folder(files: Record<string, string>): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), "agent-yaml-"));
  onTestFinished(() => rm(path, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) await writeFile(join(path, name), text);
  return path;
}

/** The agent of this text, in a folder with the other files. */
export async function load(
  text: string,
  { env = {}, files = {} }: { env?: Record<string, string>; files?: Record<string, string> } = {},
): Promise<AgentModule> {
  const path = join(await folder({ "agent.yaml": text, ...files }), "agent.yaml");
  const loaded = await loadYamlAgent(path, env);
  onTestFinished(() => loaded.close?.());
  return loaded;
}

export interface Seen {
  readonly type: string;
  readonly [field: string]: any;
}

export interface Chat {
  readonly url: string;
  readonly agent: HttpAgent;
  readonly logs: readonly unknown[];
  say(content: string): Promise<Seen[]>;
  answer(toolCallId: string, content: string): Promise<Seen[]>;
  resume(interruptId: string, payload: unknown): Promise<Seen[]>;
}

/** Serves what was loaded, and talks to it with the real client. */
export async function chatWith(
  loaded: AgentModule,
  options: AgentHandlerOptions = {},
): Promise<Chat> {
  const logs: unknown[] = [];
  const record = (fields: object, message?: string): void => void logs.push({ message, fields });
  const logger: Logger = { debug: record, info: record, warn: record, error: record };
  const handler = createAgentHandler(loaded.agent, { ...loaded.options, logger, ...options });
  const serving = await serve(handler, { port: 0, signals: false });
  onTestFinished(() => serving.close());
  const agent = new HttpAgent({ url: `${serving.url}/agui` });
  let said = 0;

  async function run(more: Parameters<HttpAgent["runAgent"]>[0] = {}): Promise<Seen[]> {
    const events: Seen[] = [];
    const onEvent = ({ event }: { event: object }): void => void events.push(event as Seen);
    await agent.runAgent(more, { onEvent });
    return events;
  }

  return {
    url: serving.url,
    agent,
    logs,
    say(content) {
      agent.addMessage({ id: `user-${++said}`, role: "user", content });
      return run();
    },
    answer(toolCallId, content) {
      agent.addMessage({ id: `tool-${toolCallId}`, role: "tool", toolCallId, content });
      return run();
    },
    resume: (interruptId, payload) =>
      run({ resume: [{ interruptId, status: "resolved", payload }] }),
  };
}

/** Everything that was said as text in these events. */
export function textOf(events: readonly Seen[]): string {
  return events
    .filter(({ type }) => type === "TEXT_MESSAGE_CONTENT")
    .map(({ delta }) => delta as string)
    .join("");
}

/** The results of tools in these events. */
export function resultsOf(events: readonly Seen[]): unknown[] {
  return events.filter(({ type }) => type === "TOOL_CALL_RESULT").map(({ content }) => content);
}

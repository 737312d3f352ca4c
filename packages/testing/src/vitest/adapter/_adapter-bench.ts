import { silentLogger, ulid } from "@holodeck/agui-core";
import type {
  AgentLike,
  Awaitable,
  BaseEvent,
  Clock,
  ExchangeHandler,
  Json,
  Limits,
  Logger,
  Message,
  RunAgentInput,
  SessionStore,
} from "@holodeck/agui-core";
import { expect } from "vitest";
import { fakeClock } from "../../fake-clock.ts";
import type { FakeClock } from "../../fake-clock.ts";
import { readEvents } from "../../read-sse.ts";
import { recordRun } from "../../recorded-run.ts";
import type { RecordedRun } from "../../recorded-run.ts";
import { createAdapterModel } from "./_adapter-model.ts";
import type { AdapterModel, ModelAnswer } from "./_adapter-model.ts";

/** A tool that the agent of the framework runs. */
export interface AdapterTool {
  readonly name: string;
  readonly description: string;
  /** A JSON Schema. */
  readonly parameters: Json;
  readonly needsApproval: boolean;
  /** `signal` is the one that the framework gives to its tools, if it does. */
  execute(args: unknown, signal?: AbortSignal): Promise<unknown>;
}

/** What an agent is made from. */
export interface AdapterSetup {
  readonly model: AdapterModel;
  readonly tools: readonly AdapterTool[];
  /** Creates what the processes of one test share, such as a database: the first one's is used. */
  shared<T>(create: () => T): T;
}

/** As much of a handler as is needed here. */
export interface AdapterHandler extends ExchangeHandler {
  readonly sessions: SessionStore;
  readonly runs: { stop(runId: string): Promise<boolean> };
}

export interface AdapterHandlerOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly strict: true;
  readonly limits: Partial<Limits>;
  readonly sessions?: SessionStore;
}

export interface AdapterBenchOptions {
  /** Creates the agent: a fake model of the framework, its tools, the adapter. */
  create(setup: AdapterSetup): Awaitable<AgentLike>;
  /** `createAgentHandler` of `@holodeck/agui`. */
  createHandler(agent: AgentLike, options: AdapterHandlerOptions): AdapterHandler;
}

export interface AdapterScene {
  readonly answers: readonly ModelAnswer[];
  readonly tools?: readonly AdapterTool[];
}

/** A user with a frontend: keeps the messages, and sends them with each request. */
export interface AdapterUser {
  readonly model: AdapterModel;
  readonly clock: FakeClock;
  send(request?: AdapterRequest): Promise<RecordedRun>;
  /** Ends the process that served the last request; the next one is served by another. */
  changeProcess(): Promise<void>;
  stop(): Promise<void>;
}

interface AdapterRequest {
  readonly message?: string;
  readonly result?: { readonly toolCallId: string; readonly content: string };
  readonly resume?: RunAgentInput["resume"];
  readonly clientTools?: RunAgentInput["tools"];
  /** Called for each event as it arrives. */
  readonly onEvent?: (event: BaseEvent) => unknown;
}

export const runTimeoutMs = 10_000;
const closeMs = 1_000;

/** Serves the agent of a scene, through `fetch`. `closers` receives what ends it. */
export async function openScene(
  options: AdapterBenchOptions,
  scene: AdapterScene,
  closers: (() => Promise<void>)[],
): Promise<AdapterUser> {
  const clock = fakeClock();
  const model = createAdapterModel(scene.answers);
  let shared: { value: unknown } | undefined;
  let sessions: SessionStore | undefined;
  let handler = await serve();
  let messages: readonly Message[] = [];
  let runId = "";
  const threadId = ulid();

  async function serve(): Promise<AdapterHandler> {
    const agent = await options.create({
      model,
      tools: scene.tools ?? [],
      shared: <T>(create: () => T) => (shared ??= { value: create() }).value as T,
    });
    const made = options.createHandler(agent, {
      clock,
      logger: silentLogger,
      strict: true,
      limits: { runTimeoutMs },
      ...(sessions ? { sessions } : {}),
    });
    sessions ??= made.sessions;
    closers.push(async () => {
      const closed = made.close({ timeoutMs: closeMs });
      await clock.advance(2 * closeMs);
      await closed;
    });
    return made;
  }

  return {
    model,
    clock,
    async send({ message, result, resume, clientTools = [], onEvent } = {}) {
      runId = ulid();
      const sent: readonly Message[] = [
        ...messages,
        ...(message === undefined ? [] : [{ id: ulid(), role: "user" as const, content: message }]),
        ...(result ? [{ id: ulid(), role: "tool" as const, ...result }] : []),
      ];
      const input = {
        protocolVersion: "1.0",
        threadId,
        runId,
        messages: sent,
        tools: clientTools,
        context: [],
        state: {},
        forwardedProps: {},
        ...(resume ? { resume } : {}),
      };
      const response = await handler.fetch(
        new Request("http://localhost/agui", {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify(input),
        }),
      );
      expect(response.status, response.ok ? "" : await response.clone().text()).toBe(200);
      const events: BaseEvent[] = [];
      for await (const event of readEvents(response)) {
        events.push(event);
        await onEvent?.(event);
      }
      const run = recordRun(events, { messages: sent });
      ({ messages } = run);
      return run;
    },
    async changeProcess() {
      handler = await serve();
    },
    async stop() {
      expect(await handler.runs.stop(runId)).toBe(true);
    },
  };
}

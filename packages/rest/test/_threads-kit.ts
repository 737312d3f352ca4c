import { createAgentHandler } from "@holodeck/agui";
import type { AgentHandler, AgentHandlerOptions, AgentMap } from "@holodeck/agui";
import type { AgentLike, Json } from "@holodeck/agui-core";
import { silentLogger } from "@holodeck/agui-core";
import { serve } from "@holodeck/agui-node";
import { readSse } from "@holodeck/agui-testing";
import { onTestFinished } from "vitest";
import type { SharedStore, StoreKind } from "../../agui/test/_shared-stores.ts";
import { threads } from "../src/index.ts";
import type { ThreadsOptions } from "../src/index.ts";

export type Event = Json & { event: string };

/** A stream of this dialect, read event by event. */
export interface Chat {
  readonly response: Response;
  readonly threadId: string;
  next(): Promise<Event>;
  /** Until one of that kind; it comes last. */
  until(event: string): Promise<Event[]>;
  rest(): Promise<Event[]>;
  leave(): Promise<void>;
}

export interface Answer {
  readonly status: number;
  readonly body: Json;
  readonly headers: Headers;
}

export interface Client {
  readonly url: string;
  readonly handler: AgentHandler;
  chat(body: Json, headers?: Record<string, string>): Promise<Chat>;
  ask(route: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
}

/** A server on the loopback with this dialect only, closed with the test. */
export async function start(
  agent: AgentLike | AgentMap,
  options: Omit<AgentHandlerOptions, "protocols"> & { threads?: ThreadsOptions } = {},
): Promise<Client> {
  const { threads: dialect, ...rest } = options;
  const handler = createAgentHandler(agent, {
    logger: silentLogger,
    ...rest,
    protocols: [threads(dialect)],
  });
  const { url, close } = await serve(handler, { port: 0, signals: false });
  onTestFinished(async () => {
    for (const run of handler.runs.list()) await handler.runs.stop(run.runId);
    await close();
  });
  return toClient(url, handler);
}

/** `ask("POST /chat", …)`: the answer, read to its end. */
function toClient(url: string, handler: AgentHandler): Client {
  async function send(
    route: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Response> {
    const [method = "", path = ""] = route.split(" ");
    return fetch(`${url}${path}`, {
      method,
      headers: {
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      ...(body === undefined
        ? {}
        : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
  }

  return {
    url,
    handler,
    async ask(route, body, headers) {
      const response = await send(route, body, headers);
      const text = await response.text();
      return {
        status: response.status,
        headers: response.headers,
        body: text === "" ? {} : (JSON.parse(text) as Json),
      };
    },
    async chat(body, headers) {
      return toChat(await send("POST /chat", body, headers));
    },
  };
}

function toChat(response: Response): Chat {
  const events = readSse(response);
  async function next(): Promise<Event> {
    const step = await events.next();
    if (step.done) throw new Error("The stream has ended.");
    return JSON.parse(step.value.data) as Event;
  }
  return {
    response,
    threadId: response.headers.get("x-thread-id") ?? "",
    next,
    async until(kind) {
      const found: Event[] = [];
      do found.push(await next());
      while (found.at(-1)?.event !== kind);
      return found;
    },
    async rest() {
      const found: Event[] = [];
      for await (const { data } of events) found.push(JSON.parse(data) as Event);
      return found;
    },
    leave: async () => void (await events.return()),
  };
}

/** A promise and how to keep it. */
export function gate<T = void>(): { opened: Promise<T>; open: (value: T) => void } {
  let open!: (value: T) => void;
  const opened = new Promise<T>((resolve) => (open = resolve));
  return { opened, open };
}

/** A store of a kind, closed after the servers on it. Nothing: it cannot be had here. */
export async function openStore(kind: StoreKind, suite: string): Promise<SharedStore | undefined> {
  const store = await kind.open(suite);
  onTestFinished(async () => {
    await store?.owner.close();
    await store?.other?.close();
    await store?.close();
  });
  return store;
}

/** Two servers on one store, where there can be two. */
export async function startTwo(agent: AgentLike, stores: SharedStore): Promise<[Client, Client]> {
  const first = await start(agent, { sessions: stores.owner });
  const second = stores.other ? await start(agent, { sessions: stores.other }) : first;
  return [first, second];
}

export const uuid: RegExp = /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/;
export const iso: RegExp = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
export const kinds = (events: readonly Event[]): string[] => events.map(({ event }) => event);

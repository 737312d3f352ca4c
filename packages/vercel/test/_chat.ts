import { createAgentHandler } from "@holodeck/agui";
import type { AgentHandler, AgentHandlerOptions } from "@holodeck/agui";
import { silentLogger } from "@holodeck/agui-core";
import type { AgentLike } from "@holodeck/agui-core";
import { serve } from "@holodeck/agui-node";
import { vercel } from "@holodeck/agui-vercel";
import type { VercelOptions } from "@holodeck/agui-vercel";
import { createRequire } from "node:module";
import { onTestFinished } from "vitest";

// Six releases of one library, whose types agree on little: here they are used as their users do.
// oxlint-disable-next-line typescript/no-explicit-any
export type Loose = any;

// As Node finds them: the bundler's way leads to builds that Node cannot read.
export const load: (name: string) => Loose = createRequire(import.meta.url);

/** A release of the AI SDK as a client of ours. */
export interface Sdk {
  readonly name: string;
  readonly major: 5 | 6 | 7;
  readonly module: Loose;
}

function sdk(name: string, major: Sdk["major"], path: string): Sdk {
  return {
    name,
    major,
    // Loaded by whoever needs it: all of them take seconds.
    get module() {
      return load(path);
    },
  };
}

/** The oldest and the newest release of each major that reads the UI message stream. */
export const sdks: readonly Sdk[] = [
  sdk("5.0.0", 5, "ai-5-0"),
  sdk("5", 5, "ai-5"),
  sdk("6.0.0", 6, "ai-6-0"),
  sdk("6", 6, "ai-6"),
  sdk("7.0.0", 7, "ai-7-0"),
  sdk("7", 7, "ai-7"),
];

export interface Chat {
  readonly chat: Loose;
  /** The bodies that were posted. */
  readonly posted: Loose[];
  readonly data: Loose[];
  readonly finished: Loose[];
  readonly messages: Loose[];
  readonly last: Loose;
  /** Resolves when the state of the chat fits. */
  until(fits: (chat: Loose) => boolean): Promise<void>;
}

/** A `Chat` of a release: the class behind `useChat`, with a plain state. */
export function createChat({ module }: Sdk, options: Loose): Chat {
  const { api, fetch = globalThis.fetch, ...rest } = options;
  const posted: Loose[] = [];
  const data: Loose[] = [];
  const finished: Loose[] = [];
  const waiting = new Set<() => void>();
  const changed = (): void => waiting.forEach((look) => look());
  let status = "ready";
  let messages: Loose[] = options.messages ?? [];
  const state = {
    error: undefined,
    get status() {
      return status;
    },
    set status(next: string) {
      status = next;
      queueMicrotask(changed);
    },
    get messages() {
      return messages;
    },
    set messages(next: Loose[]) {
      messages = next;
      queueMicrotask(changed);
    },
    pushMessage: (message: Loose) => (state.messages = [...messages, structuredClone(message)]),
    popMessage: () => (state.messages = messages.slice(0, -1)),
    replaceMessage: (index: number, message: Loose) =>
      (state.messages = messages.with(index, structuredClone(message))),
    snapshot: (thing: Loose) => structuredClone(thing),
  };
  const Plain = class extends module.AbstractChat {};
  const chat = new (Plain as Loose)({
    id: "chat-1",
    ...rest,
    state,
    transport: new module.DefaultChatTransport({
      api,
      fetch: (url: string, init: RequestInit) => {
        if (init.method === "POST") posted.push(JSON.parse(init.body as string));
        return fetch(url, init);
      },
    }),
    onData: (part: Loose) => data.push(part),
    onFinish: (event: Loose) => {
      finished.push(event);
      options.onFinish?.(event);
    },
  });
  return {
    chat,
    posted,
    data,
    finished,
    get messages() {
      return chat.messages;
    },
    get last() {
      return chat.messages.at(-1);
    },
    until: (fits) =>
      new Promise((resolve) => {
        const look = (): void => {
          if (!fits(chat)) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        look();
      }),
  };
}

export interface Served {
  readonly handler: AgentHandler;
  readonly api: string;
  readonly url: string;
}

/** A handler with the protocol, on a port of its own. */
export async function serveChat(
  agent: AgentLike,
  options: VercelOptions = {},
  settings: AgentHandlerOptions = {},
): Promise<Served> {
  const handler = createAgentHandler(agent, {
    logger: silentLogger,
    ...settings,
    protocols: [vercel(options)],
  });
  const serving = await serve(handler, { port: 0, signals: false });
  onTestFinished(() => serving.close());
  return { handler, url: serving.url, api: `${serving.url}/api/chat` };
}

export const textOf = (message: Loose): string =>
  (message?.parts ?? [])
    .filter((part: Loose) => part.type === "text")
    .map((part: Loose) => part.text)
    .join("");

export const partsOf = (message: Loose, type: string): Loose[] =>
  (message?.parts ?? []).filter((part: Loose) => part.type === type);

/** A promise and how to keep it. */
export function gate(): { readonly opened: Promise<void>; readonly open: () => void } {
  let resolve: (() => void) | undefined;
  const opened = new Promise<void>((done) => (resolve = done));
  return { opened, open: () => resolve?.() };
}

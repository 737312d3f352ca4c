import { ulid } from "@holodeck/agui-core";
import type { BaseEvent, Logger, Message } from "@holodeck/agui-core";

/** A message of a user, with a new id. */
export function userMessage(content: string): Extract<Message, { role: "user" }> {
  return { id: ulid(), role: "user", content };
}

/** A POST to the handler, with a JSON body unless told otherwise. */
export function post(body: unknown, init: RequestInit & { path?: string } = {}): Request {
  const { path = "/agui", headers, ...rest } = init;
  return new Request(`http://test.local${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...(headers as Record<string, string>) },
    body: typeof body === "string" ? body : JSON.stringify(body),
    ...rest,
  });
}

/** The events of an SSE response, read to its end. */
export async function eventsOf(response: Response): Promise<BaseEvent[]> {
  return parseSse(await response.text());
}

export function parseSse(text: string): BaseEvent[] {
  return text
    .split("\n\n")
    .flatMap((frame) => frame.split("\n").filter((line) => line.startsWith("data: ")))
    .map((line) => JSON.parse(line.slice(6)) as BaseEvent);
}

export const typesOf = (events: readonly BaseEvent[]): string[] => events.map(({ type }) => type);

export const say = (content: string): { role: string; content: string } => ({
  role: "user",
  content,
});

/** A logger that keeps its records. */
export function memoryLogger(): Logger & {
  records: { level: string; message?: string; [key: string]: unknown }[];
} {
  const records: { level: string; message?: string; [key: string]: unknown }[] = [];
  const write = (level: string) => (fields: object, message?: string) => {
    records.push({ level, ...(message === undefined ? {} : { message }), ...fields });
  };
  return {
    records,
    debug: write("debug"),
    info: write("info"),
    warn: write("warn"),
    error: write("error"),
  };
}

export interface Deferred<T = void> {
  readonly promise: Promise<T>;
  resolve(value: T): void;
}

export function deferred<T = void>(): Deferred<T> {
  let resolve!: (value: T) => void;
  const promise = new Promise<T>((done) => (resolve = done));
  return { promise, resolve };
}

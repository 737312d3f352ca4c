import type { BaseEvent } from "@holodeck/agui-core";
import { readEvents } from "@holodeck/agui-testing";

/** A promise and how to keep it. */
export function gate(): { readonly opened: Promise<void>; readonly open: () => void } {
  let resolve: (() => void) | undefined;
  const opened = new Promise<void>((done) => (resolve = done));
  return { opened, open: () => resolve?.() };
}

/** A run as a client of AG-UI asks for it. */
export function post(input: object = {}): Request {
  const body = JSON.stringify({ threadId: "t", runId: "r", messages: [], ...input });
  const headers = { "content-type": "application/json" };
  return new Request("http://local.test/agui", { method: "POST", body, headers });
}

/** All events of an answer. */
export async function eventsOf(reply: Response): Promise<BaseEvent[]> {
  const events: BaseEvent[] = [];
  for await (const event of readEvents(reply.body!)) events.push(event);
  return events;
}

import { idHeader } from "@holodeck/agui-core/internal";
import type { ActiveRun, Call, Message, ProtocolHost, Reply } from "@holodeck/agui-core";
import type { Mounted } from "../options.ts";
import { withAnswers } from "../shared/answers.ts";
import { invalidParam, originalOf } from "../shared/errors.ts";
import { toContext } from "../shared/instructions.ts";
import { clientToolsOf } from "../shared/tools.ts";
import { takeBackgroundPlace } from "./background.ts";
import { findResponsePlace } from "./place.ts";
import type { ResponsePlace } from "./place.ts";
import { readItems } from "./read-items.ts";
import type { ReadItems } from "./read-items.ts";
import { readResponseRequest } from "./read-response.ts";
import type { ResponseRequest } from "./read-response.ts";
import { ResponseBuilder } from "./response-builder.ts";
import { responseEncoder } from "./response-encoder.ts";
import { toNoteEvent } from "./response-note.ts";
import type { ResponseNote } from "./response-note.ts";
import { createItemFinder } from "./stored-response.ts";

/** `POST {path}/responses`: a response as one object, as a stream, or in the background. */
export async function createResponse(call: Call, mounted: Mounted): Promise<Reply> {
  const { host, instructions } = mounted;
  const asked = readResponseRequest(call.body);
  const items = await readItems(asked.input, {
    instructions,
    maxItems: host.limits.messages,
    find: createItemFinder(call, host),
  });
  if (items.messages.length + items.resume.length === 0 && isFirst(asked)) {
    throw invalidParam("input", "must have at least one message.");
  }
  const leave = asked.isBackground ? takeBackgroundPlace(call, mounted) : undefined;
  let run: ActiveRun;
  let place: ResponsePlace;
  try {
    place = await findResponsePlace(call, asked, host);
    const note = { id: place.responseId, ...toNote(asked, items, mounted) };
    run = await start(call, { asked, items, place, note }, mounted);
  } catch (error) {
    leave?.();
    throw error;
  }
  if (leave) void run.collect().then(leave, leave);
  const headers = { "cache-control": "no-store", ...idHeader("x-thread-id", place.threadId) };
  if (asked.isStream) return run.stream(responseEncoder(), "start", headers);
  const builder = new ResponseBuilder();
  if (asked.isBackground) {
    await hasBegun(run, builder);
    return { status: 200, headers, body: builder.toJson() };
  }
  const { error } = await run.collect((event) => builder.read(event, Date.now()));
  if (error) throw originalOf(error);
  return { status: 200, headers, body: builder.toJson() };
}

interface Started {
  readonly asked: ResponseRequest;
  readonly items: ReadItems;
  readonly place: ResponsePlace;
  readonly note: ResponseNote;
}

async function start(
  call: Call,
  { asked, items, place, note }: Started,
  { host }: Mounted,
): Promise<ActiveRun> {
  const { threadId, runId, session, isNew } = place;
  const { messages, resume = [] } = session
    ? withAnswers(session, items.messages)
    : { messages: items.messages };
  const answers = [...items.resume, ...resume];
  const instructions = [...(asked.instructions ? [asked.instructions] : []), ...items.instructions];
  const input = {
    threadId,
    runId,
    messages: asked.isStored ? messages : [...historyOf(session), ...messages],
    tools: asked.tools,
    context: toContext(instructions),
    forwardedProps: asked.forwardedProps,
    state: {},
    ...(answers.length > 0 && { resume: answers }),
  };
  try {
    return await host.start(call, {
      agentId: asked.model,
      input,
      prologue: [toNoteEvent(note)],
      isBackground: asked.isBackground,
      isNewThread: isNew,
      ...(asked.isStored ? { history: "server" } : { ephemeral: true }),
    });
  } catch (error) {
    await place.undo?.();
    throw error;
  }
}

function isFirst({ previousId, conversation }: ResponseRequest): boolean {
  return previousId === undefined && conversation === undefined;
}

// Nothing is kept of a response that is not stored, so it takes the messages before it along.
function historyOf(session: ResponsePlace["session"]): readonly Message[] {
  return session?.messages.filter(({ role }) => role !== "activity") ?? [];
}

function toNote(
  asked: ResponseRequest,
  items: ReadItems,
  mounted: Mounted,
): Omit<ResponseNote, "id"> {
  const { host, serverTools, approvals } = mounted;
  const model = asked.model ?? defaultModelOf(host);
  return {
    echo: { ...asked.echo, model, store: asked.isStored, background: asked.isBackground },
    clientTools: [...clientToolsOf(asked.tools, host.serverTools(asked.model))],
    serverTools,
    approvals,
    input: items.messages.map(({ id }) => id),
  };
}

function defaultModelOf(host: ProtocolHost): string {
  const { defaultAgent } = host.info();
  return typeof defaultAgent === "string" ? defaultAgent : "default";
}

// The client may ask any process for it from now on, so its log must have begun.
function hasBegun(run: ActiveRun, builder: ResponseBuilder): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const ending = run.collect((event) => {
      if (builder.note) return;
      builder.read(event, Date.now());
      if (builder.note) resolve(undefined);
    });
    ending.then(({ error }) => {
      if (error && !builder.note) reject(originalOf(error));
      else resolve(undefined);
    }, reject);
  });
}

// Longer than our usual file: the one list of what happens to each kind of value; the rules are in guard-*.ts.
import { EventType, PROTOCOL_VERSION } from "@ag-ui/core";
import type { BaseEvent } from "@ag-ui/core";
import { createBrackets } from "./guard-brackets.ts";
import { createChunks } from "./guard-chunks.ts";
import { createTerminals, withRunIds } from "./guard-ending.ts";
import type { RunEnding } from "./guard-ending.ts";
import type { LooseEvent } from "./guard-events.ts";
import { createHot } from "./guard-hot.ts";
import { createParts, withTag } from "./guard-parts.ts";
import { createReader } from "./guard-reader.ts";
import { Violation } from "./guard-repairs.ts";
import type { RepairKind } from "./guard-repairs.ts";
import type { StateTracker } from "./state.ts";

export type { RunEnding } from "./guard-ending.ts";
export type { RepairKind } from "./guard-repairs.ts";

export interface GuardOptions {
  readonly threadId: string;
  readonly runId: string;
  /** The run this one goes on from, told with the start. */
  readonly parentRunId?: string | undefined;
  /** Receives the valid run, event by event, synchronously. */
  readonly emit: (event: BaseEvent) => void;
  /** Follows the state events that pass. */
  readonly state: StateTracker;
  readonly ending: RunEnding;
  /** The first repair ends the run with RUN_ERROR `protocol-violation`. */
  readonly strict?: boolean;
}

export interface Guard {
  /** An event, a string (text) or anything else an agent may say. Never throws. */
  push(value: unknown): void;
  /** The agent is done: closes what is open and adds RUN_FINISHED unless a terminal event was sent. */
  complete(): void;
  /** Closes what is open and ends with RUN_ERROR. */
  fail(error: { message: string; code: string }): void;
  /** Closes what is open and ends with RUN_FINISHED, outcome `cancelled`. */
  cancel(): void;
  readonly ended: boolean;
  /** How often each repair was made. */
  readonly repairs: ReadonlyMap<RepairKind, number>;
  /** The first of them in words: which, and of what. */
  readonly firstRepair: string | undefined;
}

/**
 * A synchronous state machine that turns whatever an agent says into a run that AG-UI's verifier
 * accepts. What is valid already passes as the very object the agent made.
 */
export function createGuard(options: GuardOptions): Guard {
  const { threadId, runId, parentRunId, emit, state } = options;
  const repairs = new Map<RepairKind, number>();
  const parts = createParts(send, repair);
  const brackets = createBrackets(send, repair);
  const chunks = createChunks(parts, send, repair);
  const terminals = createTerminals({ threadId, runId }, options.ending, repair);
  const read = createReader(repair);
  const hot = createHot();
  let started = false;
  // Set before the first closing event, so that whoever is called by it cannot say more.
  let closing = false;
  let ended = false;
  let subject = "";
  let firstRepair: string | undefined;
  let isStrict = options.strict ?? false;

  function repair(kind: RepairKind): void {
    repairs.set(kind, (repairs.get(kind) ?? 0) + 1);
    firstRepair ??= `${kind}, ${subject}`;
    // What comes too late cannot spoil a run that is over.
    if (!isStrict || kind === "after-end") return;
    throw new Violation(`The agent broke the protocol: ${kind}, ${subject}.`);
  }

  function send(event: LooseEvent): void {
    if (!ended) emit(event);
  }

  function start(event: LooseEvent): void {
    started = true;
    emit(event);
  }

  function ensureStarted(): void {
    if (started) return;
    start({
      type: EventType.RUN_STARTED,
      threadId,
      runId,
      ...(parentRunId === undefined ? {} : { parentRunId }),
      protocolVersion: PROTOCOL_VERSION,
    });
  }

  function push(value: unknown): void {
    if (hot.isNext(value)) return emit(value);
    const event = hot.expand(value);
    if (event) return emit(event);
    if (typeof value === "string") pushText(value);
    else attempt("the run", () => pushEvent(value));
  }

  function pushText(delta: string): void {
    subject = "text";
    if (closing) return repair("after-end");
    if (delta === "") return;
    ensureStarted();
    if (!closing) pushChunk({ type: EventType.TEXT_MESSAGE_CHUNK, delta });
  }

  function pushEvent(value: unknown): void {
    if (closing) return repair("after-end");
    const event = read(value, (type) => {
      subject = type;
    });
    if (event === undefined) return;
    switch (event.type) {
      case EventType.RUN_STARTED:
        return pushStart(event);
      case EventType.RUN_FINISHED:
        return finish(() => terminals.adopt(event));
      case EventType.RUN_ERROR:
        // The author's own word. It closes whatever is open.
        ensureStarted();
        return terminate(event);
      default:
        ensureStarted();
        // Whoever was told of the start may have ended the run.
        if (!closing) route(event);
    }
  }

  function pushStart(event: LooseEvent): void {
    if (started) return repair("run-started");
    const own = withRunIds(event, { threadId, runId }, repair);
    if (own.input === undefined && own.protocolVersion !== undefined) return start(own);
    // The input holds what the server added for the agent's eyes only.
    const { input: _, ...rest } = own;
    start({ ...rest, protocolVersion: own.protocolVersion ?? PROTOCOL_VERSION });
  }

  function pushChunk(event: LooseEvent): boolean {
    hot.cool();
    if (!chunks.push(event)) return false;
    const owner = event.subagentRunId;
    const stream = chunks.streamOf(owner);
    if (closing || !stream || stream.kind === "tool") return true;
    if (parts.ownerOf(stream.kind, stream.id) === owner) hot.stream(stream.kind, stream.id, owner);
    return true;
  }

  function pushDelta(kind: "text" | "tool", event: LooseEvent): void {
    hot.coolStream();
    chunks.before(event);
    const id = parts.proceed(kind, event);
    // A stream of chunks with an id ends with the next delta of its lane, so each needs a look.
    if (closing || chunks.isFragile() || !parts.isOpen(kind, id)) return;
    if (kind === "text") hot.text(id, parts.ownerOf(kind, id));
    else hot.call(id, parts.ownerOf(kind, id));
  }

  function route(event: LooseEvent): void {
    switch (event.type) {
      case EventType.TEXT_MESSAGE_CONTENT:
        return pushDelta("text", event);
      case EventType.TOOL_CALL_ARGS:
        return pushDelta("tool", event);
      case EventType.TEXT_MESSAGE_CHUNK:
      case EventType.TOOL_CALL_CHUNK:
      case EventType.REASONING_MESSAGE_CHUNK:
        if (pushChunk(event)) return;
        repair("malformed");
        return send(withTag({ type: EventType.RAW, event, source: "agent" }, event.subagentRunId));
      default:
        hot.cool();
        chunks.before(event);
        routeRest(event);
    }
  }

  function routeRest(event: LooseEvent): void {
    switch (event.type) {
      case EventType.TEXT_MESSAGE_START:
        return parts.start("text", event);
      case EventType.TEXT_MESSAGE_END:
        return parts.end("text", event);
      case EventType.TOOL_CALL_START:
        return parts.start("tool", event);
      case EventType.TOOL_CALL_END:
        return parts.end("tool", event);
      case EventType.REASONING_START:
        return parts.start("span", event);
      case EventType.REASONING_END:
        return parts.end("span", event);
      case EventType.REASONING_MESSAGE_START:
        return parts.start("reasoning", event);
      case EventType.REASONING_MESSAGE_CONTENT:
        parts.proceed("reasoning", event);
        return;
      case EventType.REASONING_MESSAGE_END:
        return parts.end("reasoning", event);
      case EventType.REASONING_ENCRYPTED_VALUE:
      case EventType.TOOL_CALL_RESULT:
      case EventType.ACTIVITY_SNAPSHOT:
      case EventType.ACTIVITY_DELTA:
        return send(parts.attribute(event));
      case EventType.MESSAGES_SNAPSHOT:
        if (Array.isArray(event.messages)) parts.learn(event.messages);
        return send(event);
      case EventType.STEP_STARTED:
        return brackets.startStep(event);
      case EventType.STEP_FINISHED:
        return brackets.finishStep(event);
      case EventType.SUBAGENT_STARTED:
        return brackets.startSubagent(event);
      case EventType.SUBAGENT_FINISHED:
      case EventType.SUBAGENT_ERROR:
        return brackets.finishSubagent(event);
      case EventType.STATE_SNAPSHOT:
        state.snapshot(event.snapshot);
        return send(event);
      case EventType.STATE_DELTA:
        return sendDelta(event);
      default:
        send(event);
    }
  }

  function sendDelta(event: LooseEvent): void {
    if (Array.isArray(event.delta) && state.delta(event.delta)) return send(event);
    repair("state-delta");
    const { delta: _, ...rest } = event;
    const snapshot = state.value === undefined ? {} : state.value;
    state.snapshot(snapshot);
    send({ ...rest, type: EventType.STATE_SNAPSHOT, snapshot });
  }

  function complete(): void {
    if (closing) return;
    attempt("the end of the run", () => finish(() => terminals.finished(parts.pendingCalls())));
  }

  function cancel(): void {
    if (closing) return;
    beginEnd();
    closeAll(() => {});
    attempt("the end of the run", () => terminate(terminals.cancelled()));
  }

  function fail(error: { message: string; code: string }): void {
    if (!closing) failNow(error);
  }

  function finish(terminal: () => LooseEvent): void {
    beginEnd();
    closeAll(() => repair("left-open"));
    terminate(terminal());
  }

  function failNow(error: { message: string; code: string }): void {
    isStrict = false;
    beginEnd();
    closeAll(() => {}, error);
    terminate(terminals.failed(error));
  }

  function beginEnd(): void {
    closing = true;
    hot.cool();
    ensureStarted();
  }

  function closeAll(leftOpen: () => void, error?: { message: string; code: string }): void {
    parts.closeAll(leftOpen);
    brackets.closeAll(leftOpen, error);
  }

  function terminate(event: LooseEvent): void {
    if (ended) return;
    hot.cool();
    closing = true;
    ended = true;
    emit(event);
  }

  function attempt(what: string, work: () => void): void {
    subject = what;
    try {
      work();
    } catch (violation) {
      if (!(violation instanceof Violation)) throw violation;
      failNow({ code: "protocol-violation", message: violation.message });
    }
  }

  return new GuardFace(
    { push, complete, fail, cancel, repairs },
    { firstRepair: () => firstRepair, ended: () => ended },
  );
}

// A class, because an object made with a getter of its own gets a shape of its own too. Shapes live
// where only a full collection looks, and hold on to the getter, and so to all of the run behind it.
class GuardFace implements Guard {
  readonly push: Guard["push"];
  readonly complete: Guard["complete"];
  readonly fail: Guard["fail"];
  readonly cancel: Guard["cancel"];
  readonly repairs: Guard["repairs"];
  readonly #now: { firstRepair(): string | undefined; ended(): boolean };

  constructor(
    parts: Pick<Guard, "push" | "complete" | "fail" | "cancel" | "repairs">,
    now: { firstRepair(): string | undefined; ended(): boolean },
  ) {
    this.push = parts.push;
    this.complete = parts.complete;
    this.fail = parts.fail;
    this.cancel = parts.cancel;
    this.repairs = parts.repairs;
    this.#now = now;
  }

  get firstRepair(): string | undefined {
    return this.#now.firstRepair();
  }

  get ended(): boolean {
    return this.#now.ended();
  }
}

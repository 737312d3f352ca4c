import { concatBytes } from "../../base/text-and-bytes.ts";
import { cutUpTo, noOffset, restAfter, entryOfDelta } from "../../delta/merged-entry.ts";
import type { SizedEntry } from "../../delta/merged-entry.ts";
import type { Chunk, Encoder, Sink } from "../../contract/exchange.ts";
import type { FollowerHost, FollowerInit } from "./follower-host.ts";
import { UnsentChunk } from "./unsent-chunk.ts";

// Encoding a long backlog stops at about this many bytes to ask whether the client still reads.
const portion = 64 * 1024;
// Above this a chunk is written as the client reads it, and not at once.
const largeChunk = 256 * 1024;

/**
 * One client of a run: an encoder, a sink and what is still owed. It never waits and never throws;
 * while it is behind, it is `blocked`.
 */
export class Follower {
  readonly encoder: Encoder;
  blocked = false;
  /** True once the sink was ended. */
  ended = false;
  /** True once the client left, was cut, or has everything. */
  isGone = false;
  /** It does not receive live entries yet. */
  isCatchingUp = false;
  /** Called when it keeps up again, or is gone. */
  wake: (() => void) | undefined;
  #backlog: SizedEntry[] | undefined;
  /** What is left of a large chunk, before the backlog. */
  #unsent: UnsentChunk | undefined;
  #owed = 0;
  /** It has been written to since the last tick. */
  #isWritten = false;
  /** When the last tick was, and the last one before it was written to. */
  #tickedAt: number;
  #quietSince: number;
  /** Since when it is to take what was written: it is blocked, or its sink was ended. */
  #owesSince = 0;
  #closing = false;
  #begun = false;
  /** The last offset it was given. */
  #last = 0;
  readonly #after: number;
  readonly #host: FollowerHost;
  readonly #sink: Sink;

  constructor(host: FollowerHost, { encoder, sink, after }: FollowerInit) {
    this.encoder = encoder;
    this.#host = host;
    this.#sink = sink;
    this.#after = after;
    this.#tickedAt = host.now();
    this.#quietSince = this.#tickedAt;
    sink.onClose = () => this.#leave(false);
  }

  /** Sends what comes before the first entry. */
  open(): void {
    this.#attempt((encoder) => this.#write(encoder.open?.() ?? ""));
  }

  /** Takes the past of a run: entries without offsets, except for the last. */
  prelude(entries: readonly SizedEntry[]): void {
    if (this.isGone) return;
    this.#last = entries.at(-1)!.to;
    this.#attempt(() => this.#deliverAll(entries));
  }

  /** Entries in order. `chunk` holds their bytes when another follower has encoded them already. */
  deliver(entries: readonly SizedEntry[], chunk?: Chunk): void {
    if (this.isGone) return;
    const last = entries.at(-1)!.to;
    // Read from the log before the run knew that the log has it.
    if (entries[0]!.from <= this.#last && last !== noOffset) {
      const rest = restAfter(entries, this.#last);
      if (rest.length > 0) this.deliver(rest);
      return;
    }
    if (last !== noOffset) this.#last = last;
    if (entries[0]!.from > this.#after || entries[0]!.to === noOffset) {
      this.#deliverAll(entries, chunk);
      return;
    }
    // An encoder with memory has to encode what its client has seen.
    if (this.encoder.key === undefined) {
      for (const entry of entries) {
        if (entry.from > this.#after) break;
        this.encoder.encode(cutUpTo(entry, this.#after));
      }
    }
    const unseen = restAfter(entries, this.#after);
    if (unseen.length > 0) this.#deliverAll(unseen);
  }

  #deliverAll(entries: readonly SizedEntry[], chunk?: Chunk): void {
    this.#begun = true;
    if (!this.blocked && !this.#backlog) {
      this.#write(chunk ?? encodeAll(this.encoder, entries), chunk !== undefined);
      return;
    }
    const backlog = (this.#backlog ??= []);
    for (const entry of entries) {
      backlog.push(entry);
      this.#owed += entry.size;
    }
    if (this.#owed > this.#host.maxBytes) this.cut();
  }

  /** Nothing more will come: ends the sink when everything owed is out. */
  close(): void {
    this.#closing = true;
    if (!this.blocked) this.#finish();
  }

  /** Drops the client and what it is owed. */
  cut(): void {
    if (this.isGone) return;
    try {
      this.#sink.destroy();
    } catch (error) {
      this.#host.failed(error);
    }
    this.#leave(false);
  }

  tick(now: number): void {
    // The clock is not read with every write: a heartbeat may come a tick early.
    if (this.#isWritten) this.#quietSince = this.#tickedAt;
    this.#isWritten = false;
    this.#tickedAt = now;
    const sink = this.#sink;
    const { stallMs, heartbeatMs } = this.#host;
    if (this.ended) {
      // The last bytes are on their way; a client that never takes them is dropped as well.
      if (sink.pending === 0) this.#leave(true);
      else if (now - this.#owesSince >= stallMs) this.cut();
      return;
    }
    if (this.blocked) {
      if (now - this.#owesSince >= stallMs) this.cut();
      return;
    }
    if (now - this.#quietSince >= heartbeatMs && this.encoder.keepAlive) {
      this.#attempt((encoder) => this.#write(encoder.keepAlive!(this.#begun)));
    }
  }

  // Called by timers and sockets, where a throw would end the process.
  #attempt(work: (encoder: Encoder) => void): void {
    try {
      work(this.encoder);
    } catch (error) {
      this.#host.failed(error);
      this.cut();
    }
  }

  // A chunk that others are sent, too, is in memory once and is not counted.
  #write(chunk: Chunk, isShared = false): void {
    if (chunk.length === 0) return;
    this.#isWritten = true;
    const hasRoom =
      chunk.length > largeChunk ? this.#writeLarge(chunk, isShared) : this.#sink.write(chunk);
    if (hasRoom || this.isGone) return;
    this.blocked = true;
    // Most clients are never behind.
    this.#sink.onDrain = () => this.#drain();
    this.#owesSince = this.#host.now();
    this.#paceChanged();
  }

  #writeLarge(chunk: Chunk, isShared: boolean): boolean {
    const { unsent: budget, owner = "" } = this.#host;
    const client = { owner, cut: () => this.#host.post(() => this.cut()) };
    const unsent = UnsentChunk.open(chunk, isShared ? undefined : budget, client);
    if (!unsent) this.cut();
    else if (unsent.writeTo(this.#sink)) unsent.release();
    else if (this.isGone) unsent.release();
    else {
      this.#unsent = unsent;
      return false;
    }
    return true;
  }

  #paceChanged(): void {
    this.#wakeUp();
    this.#host.paceChanged();
  }

  #wakeUp(): void {
    const { wake } = this;
    this.wake = undefined;
    wake?.();
  }

  #drain(): void {
    if (this.isGone || !this.blocked) return;
    if (this.#unsent && !this.#continue(this.#unsent)) return;
    this.blocked = false;
    this.#attempt((encoder) => {
      while (this.#backlog && !this.blocked) {
        this.#write(encodeAll(encoder, this.#nextPortion(this.#backlog)));
      }
    });
    if (this.blocked || this.isGone) return;
    if (this.#closing) this.#finish();
    this.#paceChanged();
  }

  // True when it has been written whole; otherwise the client has to read more of it first.
  #continue(unsent: UnsentChunk): boolean {
    this.#owesSince = this.#host.now();
    if (!unsent.writeTo(this.#sink)) return false;
    unsent.release();
    this.#unsent = undefined;
    return !this.isGone;
  }

  #nextPortion(backlog: SizedEntry[]): SizedEntry[] {
    let bytes = 0;
    let count = 0;
    while (count < backlog.length && bytes < portion) bytes += backlog[count++]!.size;
    this.#owed -= bytes;
    if (count < backlog.length) return backlog.splice(0, count);
    this.#backlog = undefined;
    return backlog;
  }

  #finish(): void {
    if (this.ended || this.isGone) return;
    const sink = this.#sink;
    this.#attempt((encoder) => {
      const tail = encoder.close?.();
      if (tail?.length) sink.write(tail);
    });
    if (this.isGone) return;
    this.ended = true;
    this.#owesSince = this.#host.now();
    this.#attempt(() => sink.end());
    if (sink.pending === 0) this.#leave(true);
  }

  #leave(complete: boolean): void {
    if (this.isGone) return;
    this.isGone = true;
    this.#backlog = undefined;
    this.#unsent?.release();
    this.#unsent = undefined;
    this.#wakeUp();
    this.#host.left(this, complete);
  }
}

/** The bytes of several entries as one chunk. */
export function encodeAll(encoder: Encoder, entries: readonly SizedEntry[]): Chunk {
  if (entries.length === 1) return encodeOne(encoder, entries[0]!);
  return join(entries, (entry) => encodeOne(encoder, entry));
}

// Each delta of a merged entry is one frame.
function encodeOne(encoder: Encoder, entry: SizedEntry): Chunk {
  const { deltas } = entry;
  if (deltas === undefined) return encoder.encode(entry);
  if (encoder.encodeDeltas) return encoder.encodeDeltas(entry, deltas);
  return join(deltas, (delta, index) => encoder.encode(entryOfDelta(entry, index, delta)));
}

function join<T>(items: readonly T[], encode: (item: T, index: number) => Chunk): Chunk {
  let text = "";
  let parts: Uint8Array[] | undefined;
  for (let index = 0; index < items.length; index++) {
    const chunk = encode(items[index]!, index);
    if (typeof chunk === "string") text += chunk;
    else (parts ??= []).push(chunk);
  }
  return parts ? concatBytes(parts) : text;
}

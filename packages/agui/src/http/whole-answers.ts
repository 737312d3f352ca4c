import type { ByteBudget, Tickable, Ticker } from "@holodeck/agui-core/internal";
import type { Clock, Exchange, Limits, Sink, UnsentResponse } from "@holodeck/agui-core";
import { shareOwnerOf } from "./share-owner.ts";
import type { ShareRequest } from "./share-owner.ts";

/** An answer in one piece, and where it goes. */
export interface WholeAnswer {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: string | Uint8Array;
  /** Whose answer it is. */
  readonly asked: ShareRequest;
}

export interface WholeAnswersOptions {
  readonly ticker: Ticker;
  readonly clock: Clock;
  readonly limits: Pick<Limits, "stallMs">;
  /** What all clients together may leave unread. */
  readonly unsent: ByteBudget;
}

// As much as a stream writes before it waits for its client.
const portion = 64 * 1024;
const encoder = new TextEncoder();

/**
 * Sends answers that are complete. A large one is written as its client reads it, and counts to what all clients may leave
 * unread; a client that takes nothing for `stallMs` is disconnected.
 */
export class WholeAnswers {
  readonly #options: WholeAnswersOptions;

  constructor(options: WholeAnswersOptions) {
    this.#options = options;
  }

  /** Throws `capacity-exceeded` when there is no room for it; nothing was sent then. */
  send(exchange: Exchange, answer: WholeAnswer): void {
    const { status, headers, body } = answer;
    const isCounted = hasLength(headers);
    if (body.length <= portion && exchange.respond && !isCounted) {
      const unsent = exchange.respond(status, headers, body);
      if (unsent && unsent.pending > 0) SmallAnswer.watch(unsent, this.#options);
      return;
    }
    const bytes = typeof body === "string" ? encoder.encode(body) : body;
    // A 204 has no length: clients of HTTP/2 refuse it with one.
    if (!isCounted && status !== 204) headers["content-length"] = String(bytes.length);
    if (bytes.length <= portion || exchange.method === "HEAD") {
      const sink = exchange.reply(status, headers);
      sink.write(bytes);
      sink.end();
      return;
    }
    new LargeAnswer(exchange, { ...answer, bytes }, this.#options).start();
  }
}

/** Waits until a client has taken an answer that is out of our hands. */
class SmallAnswer implements Tickable {
  readonly #unsent: UnsentResponse;
  readonly #ticker: Ticker;
  readonly #until: number;
  #place = 0;

  private constructor(unsent: UnsentResponse, { ticker, clock, limits }: WholeAnswersOptions) {
    this.#unsent = unsent;
    this.#ticker = ticker;
    this.#until = clock.now() + limits.stallMs;
  }

  static watch(unsent: UnsentResponse, options: WholeAnswersOptions): void {
    const answer = new SmallAnswer(unsent, options);
    answer.#place = options.ticker.add(answer);
  }

  tick(now: number): void {
    const isTaken = this.#unsent.pending === 0;
    if (!isTaken && now < this.#until) return;
    this.#ticker.remove(this.#place);
    if (!isTaken) this.#unsent.destroy();
  }
}

/** Writes an answer as its client reads it. */
class LargeAnswer implements Tickable {
  readonly #options: WholeAnswersOptions;
  readonly #sink: Sink;
  readonly #share: { release(): void };
  #bytes: Uint8Array;
  #at = 0;
  /** When it last wrote: the client has had this long to take it. */
  #since: number;
  #place = 0;
  #isOver = false;

  constructor(
    exchange: Exchange,
    answer: Omit<WholeAnswer, "body"> & { readonly bytes: Uint8Array },
    options: WholeAnswersOptions,
  ) {
    const { bytes, status, headers } = answer;
    this.#options = options;
    this.#bytes = bytes;
    this.#since = options.clock.now();
    const owner = shareOwnerOf(answer.asked);
    const cut = (): void => options.ticker.post(this.#place, () => this.#cut());
    this.#share = options.unsent.open({ bytes: bytes.length, owner, cut });
    try {
      this.#sink = exchange.reply(status, headers);
    } catch (error) {
      this.#share.release();
      throw error;
    }
  }

  start(): void {
    const sink = this.#sink;
    this.#place = this.#options.ticker.add(this);
    sink.onClose = () => this.#end();
    sink.onDrain = () => this.#write();
    this.#write();
  }

  tick(now: number): void {
    if (this.#at >= this.#bytes.length && this.#sink.pending === 0) this.#end();
    else if (now - this.#since >= this.#options.limits.stallMs) this.#cut();
  }

  #write(): void {
    if (this.#isOver) return;
    const { length } = this.#bytes;
    this.#since = this.#options.clock.now();
    while (this.#at < length) {
      const end = Math.min(this.#at + portion, length);
      const piece = this.#bytes.subarray(this.#at, end);
      this.#at = end;
      // Calls `onDrain` later, or `onClose`.
      if (!this.#sink.write(piece) && end < length) return;
    }
    this.#sink.end();
    if (this.#sink.pending === 0) this.#end();
  }

  #cut(): void {
    if (this.#isOver) return;
    this.#end();
    this.#sink.destroy();
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#bytes = new Uint8Array();
    this.#share.release();
    this.#options.ticker.remove(this.#place);
  }
}

// However a host has spelled it.
function hasLength(headers: Readonly<Record<string, string>>): boolean {
  for (const name in headers) {
    const lower = name.toLowerCase();
    if (lower === "content-length" || lower === "transfer-encoding") return true;
  }
  return false;
}

import { concatBytes, isRequestBound } from "@holodeck/agui-core/internal";
import type { ByteBudget, ByteShare } from "@holodeck/agui-core/internal";
import { AgentError } from "@holodeck/agui-core";
import type { Exchange, Limits } from "@holodeck/agui-core";
import { shareOwnerOf } from "./share-owner.ts";
import type { ShareRequest } from "./share-owner.ts";

export interface ReadRules {
  readonly limits: Pick<Limits, "bodyBytes">;
  /** What the bodies of all clients may take while they arrive. */
  readonly bodies: ByteBudget;
  /** Whose body it is. */
  readonly asked: ShareRequest;
}

// Below this a body is not counted: ordinary requests are served while large bodies fill the budget.
const smallBody = 64 * 1024;

/**
 * The bytes of a body; undefined when there are more than the limit. A large one has a share in the budget of all bodies
 * from before it is read until it is complete.
 */
export function readBytes(
  exchange: Exchange,
  declared: number,
  rules: ReadRules,
): Promise<Uint8Array | undefined> {
  const { bodyBytes } = rules.limits;
  if (declared <= smallBody && exchange.readAll) return exchange.readAll(bodyBytes);
  return new BodyReading(exchange, rules).read(declared);
}

class BodyReading {
  readonly #exchange: Exchange;
  readonly #rules: ReadRules;
  readonly #pieces: Uint8Array[] = [];
  #length = 0;
  #share: ByteShare | undefined;
  #reserved = smallBody;
  #isCut = false;
  #giveUp: (() => void) | undefined;

  constructor(exchange: Exchange, rules: ReadRules) {
    this.#exchange = exchange;
    this.#rules = rules;
  }

  async read(declared: number): Promise<Uint8Array | undefined> {
    try {
      if (declared > smallBody) this.#reserve(declared);
      return await this.#readAll();
    } finally {
      this.#share?.release();
    }
  }

  async #readAll(): Promise<Uint8Array | undefined> {
    const { bodyBytes } = this.#rules.limits;
    const source = this.#exchange.body()[Symbol.asyncIterator]();
    let isWhole = false;
    try {
      for (;;) {
        const piece = await this.#next(source);
        if (this.#isCut) throw cutShort();
        if (piece === undefined) break;
        this.#length += piece.length;
        if (this.#length > bodyBytes) return undefined;
        if (this.#length > this.#reserved) this.#reserve(this.#length);
        this.#pieces.push(piece);
      }
      isWhole = true;
    } finally {
      // The rest is never in memory. Not awaited: a source that waits for its client cannot end yet.
      if (!isWhole) void source.return?.().catch(ignore);
    }
    const [first = new Uint8Array(), ...more] = this.#pieces;
    return more.length === 0 ? first : concatBytes(this.#pieces);
  }

  // The next piece, or the end of the wait for it when the room is needed by others.
  #next(source: AsyncIterator<Uint8Array>): Promise<Uint8Array | undefined> {
    return new Promise((resolve, reject) => {
      this.#giveUp = () => reject(cutShort());
      source.next().then(({ done, value }) => resolve(done ? undefined : value), reject);
    });
  }

  #reserve(bytes: number): void {
    const more = bytes - (this.#share ? this.#reserved : 0);
    this.#reserved = bytes;
    if (this.#share) return this.#share.grow(more);
    const { bodies, asked } = this.#rules;
    const owner = shareOwnerOf(asked);
    this.#share = bodies.open({ bytes: more, owner, cut: () => this.#cut() });
  }

  #cut(): void {
    this.#isCut = true;
    this.#pieces.length = 0;
    // A promise of this request is not settled by another where they must not meet: the next piece shows it.
    if (!isRequestBound) this.#giveUp?.();
  }
}

function ignore(): void {}

function cutShort(): AgentError {
  const message = "The body took too long to arrive while others waited for their turn.";
  return new AgentError("capacity-exceeded", message, { status: 503, retryAfter: 5 });
}

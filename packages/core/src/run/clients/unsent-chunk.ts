import type { ByteBudget, ByteShare, ShareInit } from "../../base/byte-budget.ts";
import type { Chunk, Sink } from "../../contract/exchange.ts";

const portion = 64 * 1024;

/** A large chunk on its way to one client, written as the client reads it: a prelude, or a long log. */
export class UnsentChunk {
  readonly #share: ByteShare | undefined;
  #chunk: Chunk;
  #at = 0;

  private constructor(chunk: Chunk, share: ByteShare | undefined) {
    this.#chunk = chunk;
    this.#share = share;
  }

  /** Returns undefined when the budget has no room for it. */
  static open(
    chunk: Chunk,
    budget: ByteBudget | undefined,
    client: Pick<ShareInit, "owner" | "cut">,
  ): UnsentChunk | undefined {
    try {
      const share = budget?.open({ ...client, bytes: chunk.length });
      return new UnsentChunk(chunk, share);
    } catch {
      return undefined;
    }
  }

  /** Writes until the client has to read first. Returns true when all of it was written and the sink takes more. */
  writeTo(sink: Sink): boolean {
    while (this.#at < this.#chunk.length) {
      const end = this.#endOfPortion();
      const piece = sliceOf(this.#chunk, this.#at, end);
      this.#at = end;
      if (!sink.write(piece)) return false;
    }
    return true;
  }

  release(): void {
    this.#share?.release();
    this.#chunk = "";
    this.#at = 0;
  }

  // A character of two units stays in one piece.
  #endOfPortion(): number {
    const end = Math.min(this.#at + portion, this.#chunk.length);
    if (typeof this.#chunk !== "string" || end === this.#chunk.length) return end;
    const last = this.#chunk.charCodeAt(end - 1);
    return last >= 0xd800 && last <= 0xdbff ? end - 1 : end;
  }
}

function sliceOf(chunk: Chunk, start: number, end: number): Chunk {
  return typeof chunk === "string" ? chunk.slice(start, end) : chunk.subarray(start, end);
}

import type { ByteBudget } from "../../base/byte-budget.ts";
import type { Encoder, Sink } from "../../contract/exchange.ts";
import type { Follower } from "./follower.ts";

export interface FollowerInit {
  readonly encoder: Encoder;
  readonly sink: Sink;
  /** What the client has seen already; entries up to here are not sent again. */
  readonly after: number;
}

/** What a follower needs from the run, or from the replay of one. */
export interface FollowerHost {
  /** Blocked and behind by more than this: the follower is cut. */
  readonly maxBytes: number;
  readonly stallMs: number;
  readonly heartbeatMs: number;
  /** What all clients together may leave unread of large chunks. Absent: not bounded. */
  readonly unsent?: ByteBudget | undefined;
  /** Whose client it is, in that budget. */
  readonly owner?: string | undefined;
  now(): number;
  /** Does what another request asks of the client. */
  post(task: () => void): void;
  /** The client left, was cut, or has everything. Called once. */
  left(follower: Follower, complete: boolean): void;
  /** Whether the client keeps up has changed. */
  paceChanged(): void;
  /** The encoder or the sink threw; the client is cut. */
  failed(error: unknown): void;
}

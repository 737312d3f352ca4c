import type { Clock, Principal } from "../contract/context.ts";
import { AgentError } from "../contract/errors.ts";

/** The bytes of one client in a budget. */
export interface ByteShare {
  /** Makes room for more. Throws `capacity-exceeded`, as `ByteBudget.open` does. */
  grow(bytes: number): void;
  /** Gives the bytes back. May be called several times, and after it was cut. */
  release(): void;
}

export interface ShareInit {
  readonly bytes: number;
  /** Whose bytes they are: a principal, or an address. */
  readonly owner: string;
  /** Called when others need the room: drops what takes it. */
  cut(): void;
}

interface Share extends ShareInit {
  readonly since: number;
  bytes: number;
}

export interface ByteBudgetOptions {
  readonly maxBytes: number;
  readonly clock: Pick<Clock, "now">;
  /** What all of it is, for the error: "bodies". */
  readonly what: string;
}

// Other requests of one client have to wait this long before they take the place of its earlier ones.
const patienceMs = 5_000;

/**
 * Bytes that all clients together may take. When they are taken, a client that has less than another takes the place
 * of the other's oldest share; the client that has most can only replace what it has held for five seconds. Anything
 * else is refused, so that one client neither locks the others out nor ends its own requests by a burst.
 */
export class ByteBudget {
  readonly #shares = new Set<Share>();
  readonly #options: ByteBudgetOptions;
  #used = 0;

  constructor(options: ByteBudgetOptions) {
    this.#options = options;
  }

  /** The bytes that are taken. */
  get used(): number {
    return this.#used;
  }

  /** Takes a share, which may make others lose theirs. Throws `capacity-exceeded` with status 503 when there is no room. */
  open(init: ShareInit): ByteShare {
    const { owner } = init;
    const share: Share = {
      owner,
      cut: () => init.cut(),
      bytes: 0,
      since: this.#options.clock.now(),
    };
    this.#take(share, init.bytes);
    this.#shares.add(share);
    return {
      grow: (bytes) => {
        if (this.#shares.has(share)) this.#take(share, bytes);
      },
      release: () => this.#release(share),
    };
  }

  #take(share: Share, bytes: number): void {
    const { maxBytes } = this.#options;
    // More than all of it has room when nothing else is there.
    const wanted = Math.min(bytes, maxBytes - share.bytes);
    while (this.#used + wanted > maxBytes) {
      const victim = this.#victimOf(share, wanted);
      if (!victim) throw this.#refusal();
      this.#release(victim);
      victim.cut();
    }
    share.bytes += wanted;
    this.#used += wanted;
  }

  #release(share: Share): void {
    if (this.#shares.delete(share)) this.#used -= share.bytes;
  }

  #victimOf(share: Share, bytes: number): Share | undefined {
    const held = new Map<string, number>();
    for (const one of this.#shares) held.set(one.owner, (held.get(one.owner) ?? 0) + one.bytes);
    let [heaviest, most] = [share.owner, (held.get(share.owner) ?? 0) + bytes];
    for (const [owner, taken] of held) if (taken > most) [heaviest, most] = [owner, taken];
    for (const one of this.#shares) {
      if (one.owner !== heaviest || one === share) continue;
      // The oldest of a set comes first.
      const isOld = this.#options.clock.now() - one.since >= patienceMs;
      return heaviest !== share.owner || isOld ? one : undefined;
    }
    return undefined;
  }

  #refusal(): AgentError {
    const message = `The server is busy with other ${this.#options.what}.`;
    return new AgentError("capacity-exceeded", message, { status: 503, retryAfter: 5 });
  }
}

// Of the whole process: an application may have two copies of this module.
const shared = Symbol.for("@holodeck/agui.shared");

/** The principal of callers that are not known. */
export function sharedPrincipal(id: string): Principal {
  return Object.defineProperty({ id }, shared, { value: true });
}

/**
 * Who shares what all clients may take: a principal, or a network where callers are not known. The kind is part of the
 * name: a principal's id cannot collide with an address.
 */
export function toShareOwner(principal: Principal | undefined, ip: string | undefined): string {
  if (principal === undefined || shared in principal) return `address:${toNetwork(ip ?? "")}`;
  return `principal:${principal.id}`;
}

/** Of IPv6 the first half: a subscriber has all of the other to choose from. */
function toNetwork(ip: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(ip)?.[1];
  if (mapped !== undefined || !ip.includes(":")) return mapped ?? ip;
  const [head = "", tail] = ip.toLowerCase().replace(/%.*$/, "").split("::");
  const groups = head === "" ? [] : head.split(":");
  const last = tail ? tail.split(":") : [];
  if (tail !== undefined) {
    const missing = Math.max(0, 8 - groups.length - last.length);
    groups.push(...Array.from({ length: missing }, () => "0"), ...last);
  }
  return groups
    .slice(0, 4)
    .map((group) => group.replace(/^0+(?=.)/, ""))
    .join(":");
}

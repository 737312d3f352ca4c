import { AgentError } from "@holodeck/agui-core";
import {
  assertOptions,
  toShareOwner,
  describeValue,
  unknownName,
} from "@holodeck/agui-core/internal";
import type { AdmitHost, HandlerMiddleware, RunAgentInput, RunContext } from "@holodeck/agui-core";

export interface RateLimitOptions {
  /** So many runs at once; as many come back within `perMs`, one after the other. */
  runs: number;
  /** By default a minute. */
  perMs?: number;
  /**
   * Which runs are counted together: those of one principal, one address, one thread, or the key that
   * a function returns. By default those of the principal, or of the address for anonymous callers.
   */
  by?: "principal" | "address" | "thread" | ((input: RunAgentInput, context: RunContext) => string);
  /** Distinguishes several limits in one store. By default `runs`. */
  name?: string;
  /**
   * Where runs are counted. By default the handler's session store, so that all its processes count
   * together.
   */
  sessions?: AdmitHost["sessions"];
}

const known = ["runs", "perMs", "by", "name", "sessions"];
const kinds: readonly string[] = ["principal", "address", "thread"];

/**
 * Refuses runs beyond a rate with 429, `Retry-After` and `RateLimit`, before anything is streamed.
 *
 * @example
 * ```ts
 * createAgentHandler(agent, { middleware: [rateLimit({ runs: 20, perMs: 60_000 })] });
 * ```
 */
export function rateLimit(
  options: RateLimitOptions,
): HandlerMiddleware & Required<Pick<HandlerMiddleware, "admit">> {
  assertOptions("rateLimit", options, known);
  const { runs, perMs = 60_000, by, name = "runs", sessions } = options;
  if (!Number.isFinite(runs) || runs < 1) throw wrong("runs", "at least 1", runs);
  if (!Number.isFinite(perMs) || perMs <= 0) throw wrong("perMs", "above 0", perMs);
  if (typeof name !== "string" || !/^[\w.-]{1,64}$/.test(name)) {
    throw new TypeError(`rateLimit's name must be a short word, not ${describeValue(name)}.`);
  }
  if (by !== undefined && typeof by !== "function" && !kinds.includes(by)) {
    throw unknownName("a key that rateLimit counts by", describeValue(by), kinds);
  }

  async function admit(input: RunAgentInput, context: RunContext, host?: AdmitHost): Promise<void> {
    const store = sessions ?? host?.sessions;
    if (!store) {
      throw new TypeError(
        "rateLimit counts in the handler's session store; without one, pass " +
          "{ sessions: memorySessions() }.",
      );
    }
    const bucket = `rate:${name}:${toBucket(by, input, context)}`;
    const wait = await store.take(bucket, 1, { tokens: runs, perMs });
    if (wait > 0) throw refusal(wait);
  }

  function refusal(wait: number): AgentError {
    const seconds = Math.ceil(wait / 1000);
    return new AgentError("rate-limited", `Too many runs; try again in ${seconds} s.`, {
      retryAfter: seconds,
      headers: {
        ratelimit: `"${name}";r=0;t=${seconds}`,
        "ratelimit-policy": `"${name}";q=${Math.floor(runs)};w=${Math.ceil(perMs / 1000)}`,
      },
    });
  }

  return { name: "rateLimit", admit };
}

function toBucket(by: RateLimitOptions["by"], input: RunAgentInput, context: RunContext): string {
  const { principal, threadId, request } = context;
  if (typeof by === "function") {
    const key: unknown = by(input, context);
    if (typeof key === "string") return `custom:${key}`;
    throw new TypeError(`rateLimit's by must return a string, not ${describeValue(key)}.`);
  }
  // As JSON, so that no other pair of ids has the same text.
  if (by === "thread") return `thread:${JSON.stringify([principal?.id ?? "", threadId])}`;
  if (by === "principal") return `principal:${principal?.id ?? ""}`;
  return toShareOwner(by === "address" ? undefined : principal, request?.ip);
}

function wrong(option: string, rule: string, value: unknown): TypeError {
  return new TypeError(
    `rateLimit's ${option} must be a number ${rule}, not ${describeValue(value)}.`,
  );
}

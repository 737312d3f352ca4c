import type { Clock } from "@holodeck/agui-core";
import { answerWithin, storeUnavailable } from "@holodeck/agui-sessions/kit";
import type { KeyValue } from "./key-value.ts";

/**
 * The same database, with an answer to every call: what it returns, or `store-unavailable` when it fails or takes
 * too long. A write that is made later does no harm: by then another version is stored, or the owner knows
 * that it may have been made.
 */
export function answered(kv: KeyValue, options: { clock: Clock; callMs: number }): KeyValue {
  async function call<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await answerWithin(options.clock, options.callMs, work);
    } catch (error) {
      throw storeUnavailable(error);
    }
  }
  return {
    get: (key) => call(() => kv.get(key)),
    set: (key, value, version) => call(() => kv.set(key, value, version)),
    list: (prefix) => call(() => kv.list(prefix)),
  };
}

import { toSafeLine } from "../../chat/safe-text.ts";
import { catalogue } from "./catalogue.ts";
import type { CheckEntry, CheckId } from "./catalogue.ts";

export type RuleVerdict = "holds" | "breaks" | "does not apply" | "not shown";

/** What became of one check. */
export interface CheckResult {
  readonly id: CheckId;
  readonly title: string;
  readonly verdict: RuleVerdict;
  /** Something worth knowing about it, or why it was not shown. */
  readonly note?: string;
  /** Of a break: what came, in the server's own bytes, and in which request. */
  readonly seen?: string;
  readonly where?: string;
  readonly rule?: string;
  /** How often it broke. */
  readonly times?: number;
}

/** Collects what the requests show. */
export interface Findings {
  /** Something came that could have broken the rule. */
  show(id: CheckId, note?: string): void;
  break(id: CheckId, seen: string, where: string): void;
  /** The rule does not concern this server. */
  exempt(id: CheckId, reason: string): void;
  /** The check cannot be decided, for this reason. */
  miss(id: CheckId, reason: string): void;
  results(): CheckResult[];
}

interface Entry {
  isShown: boolean;
  times: number;
  seen?: string;
  where?: string;
  note?: string;
  exempt?: string;
  missed?: string;
}

export function createFindings(): Findings {
  const entries = new Map<CheckId, Entry>(
    catalogue.map(({ id }) => [id, { isShown: false, times: 0 }]),
  );
  const of = (id: CheckId): Entry => entries.get(id)!;
  return {
    show(id, note) {
      const entry = of(id);
      entry.isShown = true;
      if (note !== undefined) entry.note ??= toSafeLine(note);
    },
    break(id, seen, where) {
      const entry = of(id);
      entry.times += 1;
      if (entry.times > 1) return;
      entry.seen = toSafeLine(seen, 240);
      entry.where = where;
    },
    exempt(id, reason) {
      of(id).exempt ??= toSafeLine(reason);
    },
    miss(id, reason) {
      of(id).missed ??= toSafeLine(reason);
    },
    results: () => catalogue.map((check) => toResult(check, of(check.id))),
  };
}

function toResult(
  { id, title, rule, missing = "No run was answered." }: CheckEntry & { readonly id: CheckId },
  entry: Entry,
): CheckResult {
  const { seen, where, times, note } = entry;
  if (times > 0) return { id, title, verdict: "breaks", seen, where, rule, times };
  if (entry.isShown) {
    return { id, title, verdict: "holds", ...(note === undefined ? {} : { note }) };
  }
  if (entry.exempt !== undefined) {
    return { id, title, verdict: "does not apply", note: entry.exempt };
  }
  return { id, title, verdict: "not shown", note: entry.missed ?? missing };
}

import type { Answer } from "../read/ask.ts";
import type { Findings } from "../report/findings.ts";

// A run that is over sooner than this may have been sent in one go for good reasons.
const slowMs = 250;

/** How the events of one run came. */
export interface Pace {
  readonly kind: "streamed" | "buffered" | "too quick";
  readonly encoding: string | undefined;
  /** Describes when the first and the last event arrived. */
  readonly seen: string;
}

/** What the events of a run reveal about when they were produced. */
export interface Made {
  /** Their own timestamps. */
  readonly times: readonly number[];
  readonly deltas: number;
}

/** Whether the events of a run came as they were made. */
export function paceOf(answer: Answer, made: Made): Pace {
  const { pieces, headers } = answer;
  const [first, last] = [pieces[0]?.at ?? 0, pieces.at(-1)?.at ?? 0].map(Math.round) as [
    number,
    number,
  ];
  const encoding = headers["content-encoding"];
  return {
    kind: kindOf({ first, last }, made),
    encoding: encoding === "identity" ? undefined : encoding,
    seen: `The first event came after ${first} ms, the last one after ${last} ms.`,
  };
}

function kindOf({ first, last }: { first: number; last: number }, made: Made): Pace["kind"] {
  const { times, deltas } = made;
  const spread = times.length > 1 ? Math.max(...times) - Math.min(...times) : 0;
  // Longer than the request took: what is replayed keeps its old times.
  if (spread >= slowMs && spread <= last)
    return last - first < spread / 4 ? "buffered" : "streamed";
  if (last < slowMs) return "too quick";
  if (last - first >= last / 10) return "streamed";
  // All of it came after a long silence. An answer in one piece may have been made in one.
  return times.length > 1 || deltas < 3 ? "too quick" : "buffered";
}

/** Judges all runs together: one that came late may be chance, all of them are not. */
export function checkPaces(paces: readonly Pace[], findings: Findings): void {
  const plain = paces.filter(({ encoding }) => encoding === undefined);
  const isStreaming = plain.some(({ kind }) => kind === "streamed");
  const buffered = plain.filter(({ kind }) => kind === "buffered");
  if (isStreaming) findings.show("streams");
  else if (buffered.length > 1 && buffered.length === plain.length) {
    findings.break("streams", buffered[0]!.seen, "every run");
  }
  const packed = paces.find(({ encoding }) => encoding !== undefined);
  if (!packed) return findings.exempt("compression", "It does not compress.");
  const note = `Compressed with ${packed.encoding}.`;
  if (packed.kind === "streamed") return findings.show("compression", note);
  if (packed.kind === "buffered" && isStreaming) {
    return findings.break("compression", `${note} ${packed.seen}`, "the run with Accept: */*");
  }
  findings.miss("compression", `${note} The runs were too short to measure more.`);
}

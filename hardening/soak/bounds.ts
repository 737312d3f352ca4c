import { trendOf } from "./statistics.ts";
import type { Trend } from "./statistics.ts";

/** The server at a moment without requests, after collections. */
export interface Sample {
  readonly minutes: number;
  readonly heapBytes: number;
  /** Handles, timers and requests of the process by kind. */
  readonly resources: Readonly<Record<string, number>>;
  /** Of the event loop's delay since the sample before, in ms. */
  readonly p99: number;
  /** The same of the process of the clients, which waits for the same processors. */
  readonly clientP99: number;
  /** Runs that are not over. */
  readonly runs: number;
}

export interface Verdict {
  readonly heap: Trend;
  /** What the heap has grown by over the measured time, at least. */
  readonly growthBytes: number;
  readonly broken: readonly string[];
}

// What a heap may grow by: compiled code and caches that fill up are no leak.
const leastGrowth = 3_000_000;
const share = 0.08;
const maxDelay = 250;
const times = 4;

/** Whether the server is as it was. The first third of the samples warms it up. */
export function judge(samples: readonly Sample[], left: Sample["resources"]): Verdict {
  const measured = samples.slice(Math.floor(samples.length / 3));
  const points = measured.map(({ minutes, heapBytes }) => ({ x: minutes, y: heapBytes }));
  const heap = trendOf(points);
  const time = (points.at(-1)?.x ?? 0) - (points[0]?.x ?? 0);
  const growthBytes = Math.max(0, heap.slope - heap.margin) * time;
  const allowed = Math.max(leastGrowth, share * (points[0]?.y ?? 0));
  const broken: string[] = [];
  if (measured.length < 4) broken.push(`${measured.length} samples are too few`);
  if (growthBytes > allowed) broken.push(`the heap grows by ${format(heap)} MB a minute`);
  broken.push(...moreResources(measured));
  if (Object.keys(left).length > 0) broken.push(`left after closing: ${JSON.stringify(left)}`);
  if (measured.some(({ runs }) => runs > 0)) broken.push("runs go on without a client");
  const late = measured.filter(({ p99, clientP99 }) => p99 > maxDelay && p99 > times * clientP99);
  if (late.length > measured.length / 2)
    broken.push(`the event loop is late by ${late[0]!.p99} ms`);
  return { heap, growthBytes, broken };
}

// Each kind: not more in the second half of the samples than in the first.
function moreResources(samples: readonly Sample[]): string[] {
  const middle = Math.floor(samples.length / 2);
  const most = (some: readonly Sample[], kind: string): number =>
    Math.max(0, ...some.map(({ resources }) => resources[kind] ?? 0));
  const kinds = new Set(samples.flatMap(({ resources }) => Object.keys(resources)));
  return [...kinds].flatMap((kind) => {
    const [before, after] = [samples.slice(0, middle), samples.slice(middle)].map((some) =>
      most(some, kind),
    );
    // A timer may be set at just that moment.
    return after! > before! + 2 ? [`${kind}: ${before} at first, ${after} later`] : [];
  });
}

export function format({ slope, margin }: Trend): string {
  const megabytes = (bytes: number): string => (bytes / 1e6).toFixed(2);
  return `${megabytes(slope)} ± ${megabytes(margin)}`;
}

import { assertReadable } from "@holodeck/agui-core/internal";
import type { ActiveRun, Call, Encoder, Reply, ReplyStream, RunRecord } from "@holodeck/agui-core";
import type { LiveRun } from "@holodeck/agui-core/internal";

/** A run of this process as a protocol answers a request with it. */
export function toActive(record: RunRecord, run: LiveRun, call: Call): ActiveRun {
  return {
    record,
    stream(encoder: Encoder, from, headers): Reply {
      // Only from a log that was trimmed is anything gone.
      if (from !== "join" && record.first > 1) {
        const after = from === "start" || encoder.key === undefined ? 0 : from;
        assertReadable(record, after);
      }
      return {
        status: 200,
        headers: { "content-type": encoder.contentType, ...encoder.headers, ...headers },
        stream: new RunStream(run, encoder, from === "start" ? 0 : from),
      };
    },
    collect: (onEvent) => run.collect(call, onEvent),
  };
}

// A class: an object literal with a getter gets a unique hidden class, which retains its run until the next
// full collection. Its functions are own properties, so that a copy can wrap them.
class RunStream implements ReplyStream {
  readonly attach: ReplyStream["attach"];
  readonly discard: ReplyStream["discard"];
  readonly #run: LiveRun;

  constructor(run: LiveRun, encoder: Encoder, from: number | "join") {
    this.#run = run;
    this.attach = (sink) => run.follow(encoder, sink, from);
    this.discard = () => run.discard();
  }

  /** Made on first use, and few ask. */
  get done(): Promise<unknown> {
    return this.#run.done;
  }
}

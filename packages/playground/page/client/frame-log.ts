import type { Signal } from "@preact/signals";
import type { DroppedBytes, RecordedFrame } from "../model.ts";

/** The frames of one exchange, shown at most once per animation frame. */
export interface FrameLog {
  add(frame: RecordedFrame): void;
  /** Shows what waits, now. */
  flush(): void;
}

/** How many bytes of an exchange are kept to be looked at. */
export const maxKeptBytes: number = 4 * 1024 * 1024;

const nothing = new Uint8Array();

/** Fills the signals of an exchange. Past `maxKeptBytes` the oldest frames lose their bytes, not their events. */
export function createFrameLog({
  frames,
  dropped,
}: {
  frames: Signal<readonly RecordedFrame[]>;
  dropped: Signal<DroppedBytes>;
}): FrameLog {
  let waiting: RecordedFrame[] = [];
  let isScheduled = false;
  let kept = 0;

  function flush(): void {
    isScheduled = false;
    if (waiting.length === 0) return;
    const all = [...frames.value, ...waiting];
    waiting = [];
    let { frames: count, bytes } = dropped.value;
    while (kept > maxKeptBytes && count < all.length - 1) {
      const frame = all[count]!;
      kept -= frame.bytes.length;
      bytes += frame.bytes.length;
      all[count++] = { ...frame, bytes: nothing };
    }
    if (count !== dropped.value.frames) dropped.value = { frames: count, bytes };
    frames.value = all;
  }

  return {
    add(frame) {
      waiting.push(frame);
      kept += frame.bytes.length;
      if (isScheduled) return;
      isScheduled = true;
      onNextFrame(flush);
    },
    flush,
  };
}

/** Runs when the browser paints next; outside of one, soon. */
export function onNextFrame(run: () => void): void {
  if (typeof requestAnimationFrame === "function") requestAnimationFrame(run);
  else setTimeout(run, 0);
}

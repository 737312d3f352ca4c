import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useCallback, useMemo } from "preact/hooks";
import type { RecordedExchange, RecordedFrame } from "../../model.ts";
import { CopyButton } from "../shared/copy-button.tsx";
import { formatBytes, formatCount } from "../shared/format.ts";
import { VirtualList } from "../shared/virtual-list.tsx";
import { ByteRow } from "./byte-row.tsx";
import { toHexDump } from "./hex.ts";
import { toByteLines } from "./lines.ts";
import { RequestView } from "./request-view.tsx";

// The width of a character, as a part of the pixels that `.list` has in its font (12px).
const charWidth = 7.25;
const padding = 28;

export interface BytesTabProps {
  readonly exchange: RecordedExchange;
  readonly frames: readonly RecordedFrame[];
}

/** What went over the wire, byte for byte. */
export function BytesTab({ exchange, frames }: BytesTabProps): JSX.Element {
  const { wire, request } = exchange;
  const columns = useSignal(80);
  const following = useSignal(false);
  const dropped = exchange.dropped?.value.bytes ?? 0;
  const lines = useMemo(
    () => toByteLines(frames, { wire, columns: columns.value, dropped }),
    [frames, wire, columns.value, dropped],
  );
  const onWidth = useCallback(
    (width: number) => (columns.value = Math.floor((width - padding) / charWidth)),
    [columns],
  );
  const total = frames.reduce((sum, { bytes }) => sum + bytes.length, dropped);
  return (
    <div class="bytes">
      <RequestView request={request} />
      <div class="bar">
        <h3>Answer</h3>
        <span class="count">
          {formatCount(frames.length, "frame")}, {formatBytes(total)}
        </span>
        <CopyButton what="answer" text={() => toFrameText(frames, wire)} />
      </div>
      <div class="list-frame">
        <VirtualList
          label="Bytes of the answer"
          role="region"
          count={lines.length}
          row={(index) => <ByteRow key={index} line={lines[index]!} />}
          following={following}
          onWidth={onWidth}
        />
      </div>
    </div>
  );
}

function toFrameText(frames: readonly RecordedFrame[], wire: RecordedExchange["wire"]): string {
  const decoder = new TextDecoder();
  return wire === "agui-proto"
    ? frames.map(({ bytes }) => toHexDump(bytes)).join("\n\n")
    : frames.map(({ bytes }) => decoder.decode(bytes)).join("");
}

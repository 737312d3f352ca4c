import type { JSX } from "preact";
import type { ByteLine } from "./lines.ts";

/** One line of the view of bytes. */
export function ByteRow({ line }: { line: ByteLine }): JSX.Element {
  return (
    <div class={`row byte-line is-${line.kind}`}>
      <span class="text">{line.text}</span>
      {line.ascii !== undefined && <span class="ascii">{line.ascii}</span>}
      {line.end !== undefined && <span class="end">{line.end}</span>}
    </div>
  );
}

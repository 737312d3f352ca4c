import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";
import { addFiles } from "./use-files.ts";

/** Takes files that are dropped anywhere on it. */
export function DropZone({ children }: { children: ComponentChildren }) {
  const [isOver, setOver] = useState(false);
  // Entering a child is told before leaving its parent.
  const depth = useRef(0);
  return (
    <div
      class="drop-zone"
      onDragEnter={(event) => {
        if (!event.dataTransfer?.types.includes("Files")) return;
        depth.current++;
        setOver(true);
      }}
      onDragLeave={() => {
        depth.current = Math.max(0, depth.current - 1);
        if (depth.current === 0) setOver(false);
      }}
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => {
        event.preventDefault();
        depth.current = 0;
        setOver(false);
        addFiles([...(event.dataTransfer?.files ?? [])]);
      }}
    >
      {children}
      {isOver && <div class="drop-hint">Drop files to attach them</div>}
    </div>
  );
}

import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { addFiles } from "./use-files.ts";

/** Takes files that are dropped anywhere on it. */
export function DropZone({ children }: { children: ComponentChildren }) {
  const [isOver, setOver] = useState(false);
  // Entering a child is reported before leaving its parent.
  const depth = useRef(0);
  // A file that misses would be opened by the browser, in place of the page.
  useEffect(() => {
    const types = ["dragover", "drop"] as const;
    for (const type of types) addEventListener(type, keep);
    return () => {
      for (const type of types) removeEventListener(type, keep);
    };
  }, []);
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
      onDrop={(event) => {
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

function keep(event: Event): void {
  event.preventDefault();
}

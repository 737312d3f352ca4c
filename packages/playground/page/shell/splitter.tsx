import { inspectorWidth } from "./layout.ts";

const [least, most] = [25, 65];

/** Between the halves: dragged, or moved with the arrow keys. */
export function Splitter() {
  return (
    <div
      class="splitter"
      role="separator"
      tabIndex={0}
      aria-label="Width of the inspector"
      aria-orientation="vertical"
      aria-valuemin={least}
      aria-valuemax={most}
      aria-valuenow={inspectorWidth.value}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        event.preventDefault();
      }}
      onPointerMove={(event) => {
        if (!event.currentTarget.hasPointerCapture(event.pointerId)) return;
        resize(((innerWidth - event.clientX) / innerWidth) * 100);
      }}
      onKeyDown={({ key }) => {
        if (key === "ArrowLeft") resize(inspectorWidth.value + 2);
        if (key === "ArrowRight") resize(inspectorWidth.value - 2);
      }}
    />
  );
}

function resize(percent: number): void {
  inspectorWidth.value = Math.round(Math.min(most, Math.max(least, percent)));
}

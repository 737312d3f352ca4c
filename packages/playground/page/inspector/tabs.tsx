import type { Signal } from "@preact/signals";
import type { ComponentChildren, JSX } from "preact";
import { useRef } from "preact/hooks";

export interface Tab {
  readonly id: string;
  readonly name: string;
  readonly panel: () => ComponentChildren;
}

/** Tabs as WAI-ARIA has them: one is in the order of focus, arrows lead to the others. */
export function Tabs({
  tabs,
  selected,
}: {
  tabs: readonly Tab[];
  selected: Signal<string>;
}): JSX.Element {
  const list = useRef<HTMLDivElement>(null);
  const at = Math.max(
    0,
    tabs.findIndex(({ id }) => id === selected.value),
  );
  const current = tabs[at]!;

  const onKeyDown = (event: KeyboardEvent): void => {
    const steps: Record<string, number> = {
      ArrowRight: at + 1,
      ArrowLeft: at - 1,
      Home: 0,
      End: tabs.length - 1,
    };
    const next = steps[event.key];
    if (next === undefined) return;
    event.preventDefault();
    const { id } = tabs[(next + tabs.length) % tabs.length]!;
    selected.value = id;
    list.current!.querySelector<HTMLElement>(`#inspector-tab-${id}`)!.focus();
  };

  return (
    <>
      <div ref={list} class="tabs" role="tablist" aria-label="Views" onKeyDown={onKeyDown}>
        {tabs.map(({ id, name }) => (
          <button
            key={id}
            type="button"
            role="tab"
            id={`inspector-tab-${id}`}
            aria-selected={id === current.id}
            aria-controls={id === current.id ? "inspector-panel" : undefined}
            tabIndex={id === current.id ? 0 : -1}
            onClick={() => (selected.value = id)}
          >
            {name}
          </button>
        ))}
      </div>
      <div
        key={current.id}
        class="panel"
        role="tabpanel"
        id="inspector-panel"
        aria-labelledby={`inspector-tab-${current.id}`}
      >
        {current.panel()}
      </div>
    </>
  );
}

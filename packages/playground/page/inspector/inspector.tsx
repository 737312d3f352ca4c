import { useSignal } from "@preact/signals";
import type { Signal } from "@preact/signals";
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import type { RecordedExchange } from "../model.ts";
import { BytesTab } from "./bytes/bytes-tab.tsx";
import { CodeTab } from "./code/code-tab.tsx";
import { toEntries } from "./events/entries.ts";
import { EventsTab } from "./events/events-tab.tsx";
import { createEventsView } from "./events/view.ts";
import { Header } from "./header.tsx";
import { StateTab } from "./state/state-tab.tsx";
import { Tabs } from "./tabs.tsx";
import { TimingTab } from "./timing/timing-tab.tsx";
import "./shared/shared.css";
import "./events/events.css";
import "./state/state.css";
import "./timing/timing.css";
import "./bytes/bytes.css";
// Last: a narrow pane overrules the others.
import "./inspector.css";

/** Everything there is to see of one exchange. */
export function Inspector({ exchange }: { exchange: RecordedExchange | undefined }): JSX.Element {
  const selected = useSignal("events");
  return (
    <aside class="inspector" aria-label="Inspector">
      {exchange ? (
        <Shown key={idOf(exchange)} exchange={exchange} selected={selected} />
      ) : (
        <p class="blank">
          Nothing was sent yet. Ask something, and see here what goes over the wire.
        </p>
      )}
    </aside>
  );
}

function Shown({
  exchange,
  selected,
}: {
  exchange: RecordedExchange;
  selected: Signal<string>;
}): JSX.Element {
  const frames = exchange.frames.value;
  const entries = useMemo(() => toEntries(frames), [frames]);
  const view = useMemo(createEventsView, []);
  const showRepairs = (): void => {
    selected.value = "events";
    view.isRepairsOpen.value = true;
  };
  return (
    <>
      <Header exchange={exchange} onRepairs={showRepairs} />
      <Tabs
        selected={selected}
        tabs={[
          {
            id: "events",
            name: "Events",
            panel: () => <EventsTab exchange={exchange} entries={entries} view={view} />,
          },
          {
            id: "state",
            name: "State",
            panel: () => <StateTab exchange={exchange} entries={entries} />,
          },
          {
            id: "timing",
            name: "Timing",
            panel: () => <TimingTab exchange={exchange} frames={frames} entries={entries} />,
          },
          {
            id: "bytes",
            name: "Bytes",
            panel: () => <BytesTab exchange={exchange} frames={frames} />,
          },
          { id: "code", name: "Code", panel: () => <CodeTab exchange={exchange} /> },
        ]}
      />
    </>
  );
}

// An exchange has no id before its run has one; what it was remembered by would change then.
const ids = new WeakMap<RecordedExchange, number>();
let lastId = 0;

function idOf(exchange: RecordedExchange): number {
  let id = ids.get(exchange);
  if (id === undefined) ids.set(exchange, (id = ++lastId));
  return id;
}

// The inspector alone, with exchanges that a test writes.
import { signal } from "@preact/signals";
import { h, render } from "preact";
import { Inspector } from "../../page/inspector/inspector.tsx";
import { current, exchanges } from "../../page/model.ts";
import "../../page/styles/tokens.css";
import "./page.css";

function App() {
  return h(Inspector, { exchange: current.value });
}

globalThis.inspector = {
  /** Begins an exchange, and shows it. */
  begin({ runId, ...rest }) {
    current.value = {
      ...rest,
      runId: signal(runId),
      frames: signal([]),
      status: signal("waiting"),
      error: signal(undefined),
      startedAt: performance.now(),
    };
    exchanges.value = [...exchanges.value, current.value];
  },
  /** More frames of the newest exchange. */
  push(frames) {
    const exchange = exchanges.value.at(-1);
    const more = JSON.parse(frames).map((frame) => ({ ...frame, bytes: fromBase64(frame.bytes) }));
    exchange.status.value = "streaming";
    exchange.frames.value = [...exchange.frames.value, ...more];
  },
  end(status, error) {
    const exchange = exchanges.value.at(-1);
    exchange.error.value = error;
    exchange.status.value = status;
  },
};

function fromBase64(text) {
  return Uint8Array.from(atob(text), (char) => char.codePointAt(0));
}

render(h(App), document.querySelector("#root"));

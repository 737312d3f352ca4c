import type { JSX } from "preact";
import { current, exchanges } from "../model.ts";
import type { RecordedExchange, ExchangeStatus, Wire } from "../model.ts";
import { countRepairs } from "./events/repairs.ts";
import { repairsOf } from "./events/repairs-of.ts";
import { CopyButton } from "./shared/copy-button.tsx";
import { formatCount } from "./shared/format.ts";

const statusNames: Readonly<Record<ExchangeStatus, string>> = {
  waiting: "… Waiting",
  streaming: "▶ Streaming",
  done: "✓ Done",
  failed: "✗ Failed",
  stopped: "■ Stopped",
  cut: "⚡ Cut off",
};

const wireNames: Readonly<Record<Wire, string>> = {
  "agui-sse": "AG-UI, SSE",
  "agui-proto": "AG-UI, protobuf",
  vercel: "Vercel",
  rest: "REST",
};

export interface HeaderProps {
  readonly exchange: RecordedExchange;
  /** The user opens the list of repairs. */
  readonly onRepairs: () => void;
}

/** Which exchange this is, and how it went. */
export function Header({ exchange, onRepairs }: HeaderProps): JSX.Element {
  const { status, runId, error, wire } = exchange;
  const repairs = countRepairs(repairsOf(exchange).value);
  return (
    <header class="masthead">
      <div class="bar">
        <span class={`status is-${status.value}`} role="status">
          {statusNames[status.value]}
        </span>
        <span class="wire">{wireNames[wire]}</span>
        {repairs > 0 && (
          <button type="button" class="badge" onClick={onRepairs}>
            {formatCount(repairs, "repair")}
          </button>
        )}
      </div>
      <div class="bar run-id">
        {runId.value !== undefined && (
          <>
            <code title="The run's id">{runId.value}</code>
            <CopyButton what="run id" text={() => runId.value ?? ""} />
          </>
        )}
        {exchanges.value.length > 1 && <Picker exchange={exchange} />}
      </div>
      {error.value !== undefined && <p class="problem">{error.value}</p>}
    </header>
  );
}

function Picker({ exchange }: { exchange: RecordedExchange }): JSX.Element {
  const pick = (index: number): void => {
    current.value = exchanges.value[index];
  };
  return (
    <select
      aria-label="Exchange"
      value={exchanges.value.indexOf(exchange)}
      onChange={(event) => pick(Number(event.currentTarget.value))}
    >
      {exchanges.value.map((one, index) => (
        <option key={index} value={index}>
          {index + 1} · {wireNames[one.wire]} · {questionOf(one)}
        </option>
      ))}
    </select>
  );
}

function questionOf({ input }: RecordedExchange): string {
  const content = input.messages.findLast(({ role }) => role === "user")?.content;
  const parts = Array.isArray(content) ? content : [];
  const texts = parts.map((part) => ("text" in part ? part.text : `[${part.type}]`));
  const text = typeof content === "string" ? content : texts.join(" ");
  const line = text.replaceAll(/\s+/g, " ").trim();
  return line.length > 40 ? `${line.slice(0, 40)}…` : line || "no question";
}

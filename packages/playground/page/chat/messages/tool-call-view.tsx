import { isRecord } from "@holodeck/agui-core/internal";
import type { ToolCall } from "@ag-ui/core";
import { parseJsonText } from "../../client/json.ts";
import { Icon } from "../../ui/icons.tsx";
import { JsonView } from "../../ui/json-view.tsx";
import { ApprovalView } from "./approval-view.tsx";
import { ClientTool } from "./client-tool.tsx";
import { chat } from "../state/instance.ts";
import type { ToolResult } from "./message-view.tsx";

interface ToolCallViewProps {
  readonly call: ToolCall;
  readonly result: ToolResult | undefined;
  /** Whether its arguments are still arriving. */
  readonly isOpen: boolean;
}

/** A call: its arguments as they stream, and its result, or what it waits for. */
export function ToolCallView({ call, result, isOpen }: ToolCallViewProps) {
  const { name, arguments: args } = call.function;
  const interrupt = chat.interrupts.value.find(({ toolCallId }) => toolCallId === call.id);
  const isMine = chat.pending.value.some(({ id }) => id === call.id);
  const status = statusOf({ result, isOpen, isAsked: Boolean(interrupt) || isMine });
  return (
    <section class="tool" aria-label={`Tool ${name}`} data-status={status}>
      <header>
        <Icon name={status === "failed" ? "alert" : status === "done" ? "check" : "tool"} />
        <code>{name}</code>
        <span class="tool-status">{words[status]}</span>
      </header>
      {args.trim() !== "" && args.trim() !== "{}" && (
        <div class="tool-part">
          <p class="label">Arguments</p>
          {isOpen ? <pre tabIndex={0}>{args}</pre> : <JsonView text={args} />}
        </div>
      )}
      {result && (
        <details class="tool-part" open={textOf(result).length < 400}>
          <summary>Result</summary>
          <JsonView text={textOf(result)} />
        </details>
      )}
      {interrupt && <ApprovalView interrupt={interrupt} />}
      {isMine && <ClientTool call={call} />}
    </section>
  );
}

type Status = "writing" | "asked" | "running" | "done" | "failed";

const words: Readonly<Record<Status, string>> = {
  writing: "writing arguments",
  asked: "waits for you",
  running: "running",
  done: "done",
  failed: "did not finish",
};

interface Facts {
  readonly result: ToolResult | undefined;
  readonly isOpen: boolean;
  readonly isAsked: boolean;
}

function statusOf({ result, isOpen, isAsked }: Facts): Status {
  if (result) return isFailure(result) ? "failed" : "done";
  if (isOpen) return "writing";
  return isAsked ? "asked" : chat.status.value === "idle" ? "failed" : "running";
}

function isFailure(result: ToolResult): boolean {
  if (result.error !== undefined || result.metadata?.error !== undefined) return true;
  const parsed = parseJsonText(textOf(result));
  return isRecord(parsed) && isRecord(parsed.error) && Object.keys(parsed).length === 1;
}

function textOf({ content }: ToolResult): string {
  return typeof content === "string" ? content : JSON.stringify(content);
}

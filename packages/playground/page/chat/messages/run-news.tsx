import { useEffect, useRef, useState } from "preact/hooks";
import { chat } from "../state/instance.ts";

/** Announces changes to a screen reader, once per change and not per token. */
export function RunNews() {
  const [news, setNews] = useState("");
  const status = chat.status.value;
  const asks = chat.pending.value.length + chat.interrupts.value.length;
  const before = useRef(status);
  useEffect(() => {
    if (status === "running" && before.current === "idle") setNews("The agent is answering.");
    if (status === "idle" && before.current !== "idle") {
      setNews(asks > 0 ? "The agent waits for your answer." : lastAnswer());
    }
    before.current = status;
  }, [status, asks]);
  return (
    <p class="sr-only" role="status" aria-live="polite">
      {news}
    </p>
  );
}

function lastAnswer(): string {
  const last = chat.messages.value.findLast(({ role }) => role === "assistant");
  return typeof last?.content === "string" && last.content !== ""
    ? `Answer: ${last.content}`
    : "The answer has ended.";
}

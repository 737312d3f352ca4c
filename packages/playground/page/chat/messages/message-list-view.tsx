import { Fragment } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { state } from "../../model.ts";
import { agent } from "../../shell/server-state.ts";
import { endOf, followWish } from "../../ui/reader-wish.ts";
import { ApprovalView } from "./approval-view.tsx";
import { MessageView } from "./message-view.tsx";
import type { ToolResult } from "./message-view.tsx";
import { chat } from "../state/instance.ts";
import { planIn } from "../state/plan.ts";
import { PlanCard } from "./plan-card.tsx";
import { StepLines } from "./step-lines.tsx";
import { TurnActions } from "./turn-actions.tsx";

// A reader who scrolls down is at the end when closer to it than this, in pixels.
const nearEnd = 80;

export function MessageListView() {
  const list = useRef<HTMLDivElement>(null);
  const isFollowing = useRef(true);
  const lastTop = useRef(0);
  const messages = chat.messages.value;
  const open = chat.open.value;
  const status = chat.status.value;
  const results = new Map<string, ToolResult>();
  for (const message of messages) {
    if (message.role === "tool") results.set(message.toolCallId, message);
  }
  const lastQuestion = messages.findLast(({ role }) => role === "user")?.id;
  // After sending a message, the user wants to see the answer.
  const asked = useRef(lastQuestion);
  if (asked.current !== lastQuestion) {
    asked.current = lastQuestion;
    isFollowing.current = true;
    // Whatever they did with the list before.
    lastTop.current = 0;
  }
  const plan = planIn(state.value.value);
  const planAt = endOfTurn(messages, chat.planTurn.value);
  const freeQuestions = chat.interrupts.value.filter(
    ({ toolCallId }) => !messages.some((one) => hasCall(one, toolCallId)),
  );

  // A browser moves the list a frame before its scroll event; an answer may grow in between.
  function notice(element: HTMLElement): void {
    const { scrollTop: top } = element;
    const end = endOf(element);
    const wish = followWish({ lastTop: lastTop.current, top, end, near: end - nearEnd });
    isFollowing.current = wish ?? isFollowing.current;
    lastTop.current = top;
    // A browser that keeps a text in its place moves the list like a reader; at the end nothing needs that.
    element.style.overflowAnchor = isFollowing.current ? "none" : "auto";
  }
  // The end stays in view while an answer grows, unless the reader has scrolled away.
  function follow(): void {
    const element = list.current;
    if (!element) return;
    notice(element);
    if (!isFollowing.current) return;
    element.scrollTop = element.scrollHeight;
    lastTop.current = element.scrollTop;
  }
  useLayoutEffect(follow);
  // What grows below the list takes its room; what is in it may grow by itself.
  useEffect(() => {
    const observer = new ResizeObserver(follow);
    const element = list.current;
    for (const one of element ? [element, ...element.children] : []) observer.observe(one);
    return () => observer.disconnect();
  }, []);

  return (
    <div
      class="messages"
      ref={list}
      tabIndex={0}
      role="log"
      aria-live="off"
      aria-label="Conversation"
      onScroll={({ currentTarget }) => notice(currentTarget)}
    >
      <div class="column">
        <h1 class="sr-only">Conversation with {agent.value?.name ?? "the agent"}</h1>
        {messages.map((message, index) => {
          const calls = message.role === "assistant" ? (message.toolCalls ?? []) : [];
          const ids = [message.id, ...calls.map(({ id }) => id)];
          return (
            <Fragment key={message.id}>
              <MessageView
                message={message}
                results={calls.map(({ id }) => results.get(id))}
                openIds={ids.filter((id) => open.has(id)).join(" ")}
                isLastQuestion={message.id === lastQuestion}
              />
              {message.id === lastQuestion && <StepLines />}
              {plan && index === planAt && <PlanCard plan={plan} />}
            </Fragment>
          );
        })}
        {freeQuestions.map((interrupt) => (
          <ApprovalView key={interrupt.id} interrupt={interrupt} />
        ))}
        {status === "loading" && <p class="note">Opening the conversation…</p>}
        {status === "reconnecting" && <p class="note">The connection was lost. Reconnecting…</p>}
        {status === "running" && open.size === 0 && (
          <p class="waiting">
            <span class="pulse" aria-hidden="true" /> Working…
          </p>
        )}
        <TurnActions />
      </div>
    </div>
  );
}

/** The place of the last message before the next question. */
function endOfTurn(messages: typeof chat.messages.value, question: string | undefined): number {
  const at = messages.findIndex(({ id }) => id === question);
  const next = messages.findIndex(({ role }, index) => index > at && role === "user");
  return next < 0 ? messages.length - 1 : next - 1;
}

function hasCall(message: (typeof chat.messages.value)[number], id: string | undefined): boolean {
  return message.role === "assistant" && Boolean(message.toolCalls?.some((one) => one.id === id));
}

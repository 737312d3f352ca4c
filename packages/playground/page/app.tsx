import { useEffect, useRef } from "preact/hooks";
import { ChatPane } from "./chat/chat-pane.tsx";
import { chat } from "./chat/state/instance.ts";
import { Inspector } from "./inspector/inspector.tsx";
import { current } from "./model.ts";
import { HalfTabs } from "./shell/half-tabs.tsx";
import { inspectorWidth, isInspectorOpen, tab } from "./shell/layout.ts";
import {
  agent,
  boot,
  refreshThreads,
  server,
  unreachable,
  writeAddress,
} from "./shell/server-state.ts";
import { Splitter } from "./shell/splitter.tsx";
import { ThreadDrawer } from "./shell/thread-drawer.tsx";
import { TopBar } from "./shell/top-bar.tsx";

export function App() {
  const main = useRef<HTMLElement>(null);
  const status = chat.status.value;
  const width = inspectorWidth.value;
  useEffect(() => void boot(), []);
  useEffect(() => {
    if (status === "idle" && server.value) void refreshThreads();
  }, [status]);
  const { threadId, agentId, messages } = chat;
  const isEmpty = messages.value.length === 0;
  useEffect(writeAddress, [server.value, threadId.value, agentId.value, isEmpty, status]);
  const name = agent.value?.name;
  useEffect(() => {
    if (name) document.title = `${name} · Playground`;
  }, [name]);
  // By script, which the page's policy allows; a style attribute it does not.
  useEffect(() => main.current?.style.setProperty("--inspector", `${width}%`), [width]);
  return (
    <>
      <TopBar />
      <HalfTabs />
      {unreachable.value !== undefined && (
        <p class="unreachable" role="alert">
          {unreachable.value}{" "}
          <button type="button" onClick={() => void boot()}>
            Try again
          </button>
        </p>
      )}
      <main
        ref={main}
        data-tab={tab.value}
        data-inspector={isInspectorOpen.value ? "open" : "closed"}
      >
        <ChatPane />
        {isInspectorOpen.value && <Splitter />}
        <div class="inspector-half">
          <Inspector exchange={current.value} />
        </div>
      </main>
      <ThreadDrawer />
    </>
  );
}

import { chat } from "../chat/state/instance.ts";
import { wire } from "../model.ts";
import type { Wire } from "../model.ts";
import { Icon } from "../ui/icons.tsx";
import { isDrawerOpen, isInspectorOpen } from "./layout.ts";
import { agent, chooseWire, server } from "./server-state.ts";
import { ThemeSwitch } from "./theme-switch.tsx";

const wireNames: Readonly<Record<Wire, string>> = {
  "agui-sse": "AG-UI · SSE",
  "agui-proto": "AG-UI · protobuf",
  vercel: "Vercel AI SDK",
  rest: "REST",
};

/** The agent that the page uses, and the protocol. */
export function TopBar() {
  const { agents = [], wires = ["agui-sse" as const] } = server.value ?? {};
  const isIdle = chat.status.value === "idle";
  return (
    <header class="top-bar">
      <button
        type="button"
        class="round"
        aria-label="Conversations"
        aria-expanded={isDrawerOpen.value}
        aria-controls="threads"
        onClick={() => {
          isDrawerOpen.value = !isDrawerOpen.value;
        }}
      >
        <Icon name="menu" />
      </button>
      {agents.length > 1 ? (
        // With keys, or the other select would become this one, and its focus would move.
        <select
          key="agent"
          class="agent-picker"
          aria-label="Agent"
          value={chat.agentId.value}
          disabled={!isIdle}
          onChange={({ currentTarget }) => chat.begin(currentTarget.value)}
        >
          {agents.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
      ) : (
        <strong class="agent-name">{agent.value?.name ?? "Playground"}</strong>
      )}
      <span class="grow" />
      <select
        key="wire"
        aria-label="Protocol"
        value={wire.value}
        onChange={({ currentTarget }) => chooseWire(currentTarget.value as Wire)}
      >
        {wires.map((one) => (
          <option key={one} value={one}>
            {wireNames[one]}
          </option>
        ))}
      </select>
      <button
        type="button"
        class="new-chat"
        onClick={() => {
          chat.begin(chat.agentId.value);
          document.querySelector<HTMLElement>(".composer textarea")?.focus();
        }}
      >
        <Icon name="plus" /> <span>New chat</span>
      </button>
      <ThemeSwitch />
      <button
        type="button"
        class="round inspector-toggle"
        aria-label="Inspector"
        aria-pressed={isInspectorOpen.value}
        onClick={() => {
          isInspectorOpen.value = !isInspectorOpen.value;
        }}
      >
        <Icon name="panel" />
      </button>
    </header>
  );
}

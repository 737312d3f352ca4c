import { tab } from "./layout.ts";

const tabs = [
  ["chat", "Chat"],
  ["inspector", "Inspector"],
] as const;

/** On a phone one half is seen at a time. */
export function HalfTabs() {
  return (
    <nav class="half-tabs" aria-label="View">
      {tabs.map(([id, name]) => (
        <button
          key={id}
          type="button"
          aria-pressed={tab.value === id}
          onClick={() => {
            tab.value = id;
          }}
        >
          {name}
        </button>
      ))}
    </nav>
  );
}

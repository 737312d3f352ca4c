import { Icon } from "../ui/icons.tsx";
import { theme } from "./theme.ts";
import type { Theme } from "./theme.ts";

const next: Readonly<Record<Theme, Theme>> = { system: "light", light: "dark", dark: "system" };
const icons = { system: "system", light: "sun", dark: "moon" } as const;

/** One button through the three: as the system has it, light, dark. */
export function ThemeSwitch() {
  const label = `Theme: ${theme.value}`;
  return (
    <button
      type="button"
      class="round"
      aria-label={label}
      title={label}
      onClick={() => {
        theme.value = next[theme.value];
      }}
    >
      <Icon name={icons[theme.value]} />
    </button>
  );
}

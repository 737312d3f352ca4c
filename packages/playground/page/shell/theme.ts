import { effect, signal } from "@preact/signals";
import type { Signal } from "@preact/signals";
import { lasting } from "../chat/state/instance.ts";

export type Theme = "system" | "light" | "dark";

const key = "holodeck.theme";

export const theme: Signal<Theme> = signal(readTheme());

function readTheme(): Theme {
  const kept = lasting.getItem(key);
  return kept === "light" || kept === "dark" ? kept : "system";
}

/** Keeps the page in the chosen theme. */
export function applyTheme(): void {
  effect(() => {
    const { dataset } = document.documentElement;
    if (theme.value === "system") delete dataset.theme;
    else dataset.theme = theme.value;
    lasting.setItem(key, theme.value);
  });
}

import { signal } from "@preact/signals";
import type { Signal } from "@preact/signals";

/** Whether the inspector is next to the chat, where there is room for both. */
export const isInspectorOpen: Signal<boolean> = signal(true);
/** Which half is seen where there is room for one. */
export const tab: Signal<"chat" | "inspector"> = signal("chat");
export const isDrawerOpen: Signal<boolean> = signal(false);
/** How much of the width the inspector has, in percent. */
export const inspectorWidth: Signal<number> = signal(42);

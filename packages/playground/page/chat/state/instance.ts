import { createChat } from "./create-chat.ts";
import type { Chat } from "./create-chat.ts";
import { createMemory } from "./memory.ts";
import type { Memory, Storage } from "./memory.ts";

/** The folder of the page: everything the server has is below it. */
export const base: string = new URL(".", location.href).href;

/** What outlives a reload; a browser that keeps nothing gets what lasts as long as the page. */
export const lasting: Storage = storageOf(() => localStorage);

export const memory: Memory = createMemory(
  lasting,
  storageOf(() => sessionStorage),
);

/** The page has one conversation open at a time. */
export const chat: Chat = createChat({ base, memory });

function storageOf(open: () => Storage): Storage {
  try {
    return open();
  } catch {
    // Storage can be forbidden altogether.
    const kept = new Map<string, string>();
    return {
      getItem: (key) => kept.get(key) ?? null,
      setItem: (key, value) => void kept.set(key, value),
      removeItem: (key) => void kept.delete(key),
    };
  }
}

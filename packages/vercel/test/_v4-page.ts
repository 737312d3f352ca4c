import { JSDOM } from "jsdom";
import { settle } from "@holodeck/agui-testing";
import { afterAll, afterEach, beforeAll } from "vitest";
import { load } from "./_chat.ts";
import type { Loose } from "./_chat.ts";

// React looks for these when it is loaded.
const { window } = new JSDOM("<!doctype html>", { url: "http://localhost/" });
const globals: Readonly<Record<string, unknown>> = {
  window,
  document: window.document,
  navigator: window.navigator,
  // Where the hooks ask for files to attach.
  FileList: window.FileList,
};
const before = new Map(
  Object.keys(globals).map((name) => [name, Object.getOwnPropertyDescriptor(globalThis, name)]),
);

beforeAll(() => {
  for (const [name, value] of Object.entries(globals)) {
    Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
  }
});

const roots: Loose[] = [];

afterEach(async () => {
  for (const root of roots.splice(0)) root.unmount();
  await settle();
});

afterAll(() => {
  for (const [name, descriptor] of before) {
    if (descriptor) Object.defineProperty(globalThis, name, descriptor);
    else Reflect.deleteProperty(globalThis, name);
  }
  window.close();
});

/** A hook on a page: what it returned last, and when that fits. */
export interface Rendered {
  current: Loose;
  until(fits: (returned: Loose) => boolean): Promise<void>;
}

/** Renders a hook of the AI SDK: by default of version 4. */
export async function renderHook(
  name: "useChat" | "useCompletion" | "experimental_useObject",
  options: Loose,
  release = "ai-react-1",
): Promise<Rendered> {
  const { createElement, useEffect } = load("react");
  const { createRoot } = load("react-dom/client");
  const { [name]: useHook } = load(release);
  const waiting = new Set<() => void>();
  const root = createRoot(window.document.createElement("main"));
  roots.push(root);
  const rendered: Rendered = {
    current: undefined,
    until: (fits) =>
      new Promise((resolve) => {
        const look = (): void => {
          if (!rendered.current || !fits(rendered.current)) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        look();
      }),
  };
  function Page(): null {
    const returned = useHook(options);
    // After the page shows it.
    useEffect(() => {
      rendered.current = returned;
      waiting.forEach((look) => look());
    });
    return null;
  }
  root.render(createElement(Page));
  await rendered.until(() => true);
  return rendered;
}

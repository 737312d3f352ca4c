import type { SessionStore } from "@holodeck/agui";

/** The same store for one handler of several: closing that handler does not close it. */
export function keepOpen(store: SessionStore): SessionStore {
  return new Proxy(store, {
    get(target, name) {
      if (name === "close") return async () => {};
      const value: unknown = Reflect.get(target, name);
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
}

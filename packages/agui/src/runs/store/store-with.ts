import type { SessionStore } from "@holodeck/agui-core";

/**
 * A store with some members replaced. All others are called on the store itself: it may be an
 * instance of a class with private members.
 */
export function storeWith(store: SessionStore, members: Partial<SessionStore>): SessionStore {
  return new Proxy(store, {
    get(target, name): unknown {
      if (Object.hasOwn(members, name)) return Reflect.get(members, name);
      const member: unknown = Reflect.get(target, name);
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
}

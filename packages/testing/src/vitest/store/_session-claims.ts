import { describe, expect } from "vitest";
import { sessionInit, threadKey, user } from "./_store-kit.ts";
import type { SessionKit } from "./_store-kit.ts";

/** What a thread remembers of the calls that only a client vouches for. */
export function testSessionClaims({ bench, define }: SessionKit): void {
  describe("the calls that only a client vouches for", () => {
    define("are those of the last change that names them", async () => {
      const store = await bench.open();
      await store.create(threadKey, sessionInit);
      expect((await store.get(threadKey))!.claimed ?? []).toEqual([]);
      await store.update(threadKey, { append: [user("1")], claimed: ["c1", "ü"] });
      await store.update(threadKey, { state: 1 });
      await store.touch(threadKey);
      expect((await store.get(threadKey))!.claimed).toEqual(["c1", "ü"]);
      await store.update(threadKey, { claimed: ["c2"] });
      expect((await store.get(threadKey))!.claimed).toEqual(["c2"]);
      await store.update(threadKey, { claimed: [] });
      expect((await store.get(threadKey))!.claimed ?? []).toEqual([]);
    });
  });
}

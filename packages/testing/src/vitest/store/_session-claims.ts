import { describe, expect } from "vitest";
import { init, key, user } from "./_session-kit.ts";
import type { SessionKit } from "./_session-kit.ts";

/** What a thread remembers of the calls that only a client vouches for. */
export function testSessionClaims({ bench, define }: SessionKit): void {
  describe("the calls that only a client vouches for", () => {
    define("are those of the last change that names them", async () => {
      const store = await bench.open();
      await store.create(key, init);
      expect((await store.get(key))!.claimed ?? []).toEqual([]);
      await store.update(key, { append: [user("1")], claimed: ["c1", "ü"] });
      await store.update(key, { state: 1 });
      await store.touch(key);
      expect((await store.get(key))!.claimed).toEqual(["c1", "ü"]);
      await store.update(key, { claimed: ["c2"] });
      expect((await store.get(key))!.claimed).toEqual(["c2"]);
      await store.update(key, { claimed: [] });
      expect((await store.get(key))!.claimed ?? []).toEqual([]);
    });
  });
}

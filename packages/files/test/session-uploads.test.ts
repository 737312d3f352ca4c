import { memorySessions } from "@holodeck/agui-sessions";
import { fakeClock } from "@holodeck/agui-testing";
import { expect, test } from "vitest";
import { createSessionUploads } from "../src/uploads/session-uploads.ts";
import { createSpool } from "../src/uploads/spool.ts";

test("uploads of one caller to the session store have a bound on their number, however small they are", async () => {
  const clock = fakeClock();
  const sessions = memorySessions({ clock });
  const spool = (): ReturnType<typeof createSpool> => createSpool({ memoryBytes: 1000 });
  const open = createSessionUploads({ maxBytes: 100_000, ttlMs: 60_000 }, { clock, spool });
  const store = open({ blobs: sessions.blobs!, take: (...asked) => sessions.take(...asked) });
  async function* byte(): AsyncGenerator<Uint8Array> {
    yield new Uint8Array([65]);
  }
  const put = (owner: string): Promise<unknown> => {
    const upload = { name: "a.txt", owner, bytes: byte(), maxBytes: 1000 };
    return store.put("", { ...upload, check: async () => "text/plain" });
  };
  // A quarter of what may be on disk by default.
  for (let at = 0; at < 2_500; at++) await put("mallory");
  await expect(put("mallory")).rejects.toMatchObject({ code: "capacity-exceeded", status: 429 });
  await put("ann");
});

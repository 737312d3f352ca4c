import type { RunKey, SessionStore } from "@holodeck/agui-core";
import { expect, onTestFinished } from "vitest";
import { redisSessions } from "../src/redis/index.ts";
import type { RedisClient } from "../src/redis/index.ts";
import { codeOf, ending, follow, mark, offsets, open, until } from "./_redis-runs.ts";

/** The store that owns the runs, and another one that follows them. They are closed with the test. */
export async function openPair(
  connect: () => Promise<RedisClient>,
): Promise<{ owner: SessionStore; view: SessionStore }> {
  const openStore = async (): Promise<SessionStore> => {
    const store = redisSessions({ client: await connect(), commandMs: 5_000, leaseMs: 3_000 });
    onTestFinished(() => store.close());
    return store;
  };
  return { owner: await openStore(), view: await openStore() };
}

interface Parts {
  /** The store that owns the runs, and another one that follows them. */
  readonly owner: SessionStore;
  readonly view: SessionStore;
  /** A run of a thread that exists. */
  readonly during: RunKey;
  /** A run of a thread that does not. */
  readonly after: RunKey;
  failOver(): Promise<unknown>;
}

/** A run goes on or has one end while another server takes over, and the next run works. */
export async function expectFailover({
  owner,
  view,
  during,
  after,
  failOver,
}: Parts): Promise<void> {
  const lease = await open(owner.runs, during);
  await owner.runs.append(lease, [mark(1)]);
  const cut = follow(view.runs, during);
  await until(() => cut.entries.length === 1);
  await failOver();
  // The run goes on when the clients found the new server in time; else it has one end.
  const appended = await codeOf(() => owner.runs.append(lease, [mark(2)]));
  if (appended === undefined) await owner.runs.close(lease, ending(3), "finished");
  const end = await codeOf(() => cut.ended);
  expect(["store-unavailable", undefined]).toContain(end);
  if (end === undefined) {
    expect(cut.entries.at(-1)!.event.type).toMatch(/^RUN_(FINISHED|ERROR)$/);
    expect(offsets(cut.entries)).toEqual(cut.entries.map((_, index) => index + 1));
  }

  await until(async () => (await codeOf(() => owner.get(after))) === undefined);
  await owner.create(after, { agentId: "a" });
  const again = await open(owner.runs, after);
  const last = follow(view.runs, after);
  await owner.runs.append(again, [mark(1)]);
  await until(() => last.entries.length === 1);
  await owner.runs.close(again, ending(2), "finished");
  await last.ended;
  expect(offsets(last.entries)).toEqual([1, 2]);
  // What was stored before has been copied to the replica.
  expect(await view.get(during)).toMatchObject({ threadId: during.threadId });
}

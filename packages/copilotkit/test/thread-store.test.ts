import type { Session } from "@holodeck/agui-core";
import { filter, firstValueFrom, from } from "rxjs";
import type { ObservableInput } from "rxjs";
import { describe, expect, test } from "vitest";
import { createStage } from "./_agent.ts";
import { clients, connectClient, prepareClients } from "./_client.ts";
import type { Client, CoreModule } from "./_client.ts";
import { byHeader, host } from "./_host.ts";

type Store = ReturnType<CoreModule["ɵcreateThreadStore"]>;
type State = ReturnType<Store["getState"]>;

interface OpenStore {
  readonly store: Store;
  /** Resolves with the state once it is as wanted. */
  until(isWanted: (state: State) => boolean): Promise<State>;
  readonly names: () => (string | null)[];
}

/** CopilotKit's own thread store, behind `useThreads`. */
async function openStore(
  { ɵcreateThreadStore: createThreadStore }: CoreModule,
  url: string,
  { core }: Client,
  options: { limit?: number; includeArchived?: boolean; user?: string } = {},
): Promise<OpenStore> {
  const { user = "ada", ...context } = options;
  // Older clients have no fetch of their own for this; they always speak REST here.
  const store = createThreadStore({ fetch: core.ɵruntimeFetch ?? fetch });
  store.start();
  // Of the client's own copy of rxjs.
  const states = from(store.select((state: State) => state) as unknown as ObservableInput<State>);
  const until: OpenStore["until"] = (isWanted) => firstValueFrom(states.pipe(filter(isWanted)));
  store.setContext({
    runtimeUrl: url,
    headers: { "x-user": user },
    agentId: "default",
    ...context,
  });
  await until(({ isLoading }) => !isLoading);
  return { store, until, names: () => store.getState().threads.map(({ name }) => name) };
}

prepareClients();

describe.for(clients)("the thread store of $version over $transport", ({ module, transport }) => {
  const headers = { "x-user": "ada" };

  async function threeThreads(): Promise<{
    url: string;
    client: Client;
    get(threadId: string): Promise<Session | undefined>;
  }> {
    const { url, handler } = await host(createStage(), { authenticate: byHeader });
    const client = await connectClient(module, url, { transport, headers });
    for (const threadId of ["t-1", "t-2", "t-3"]) await client.say(client.open(threadId), "hi");
    const bob = await connectClient(module, url, { transport, headers: { "x-user": "bob" } });
    await bob.say(bob.open("t-bob"), "hi");
    const get = async (threadId: string): Promise<Session | undefined> =>
      handler.sessions.get({ principal: "ada", threadId });
    return { url, client, get };
  }

  test("lists one's own threads, page by page", async () => {
    const { url, client } = await threeThreads();
    const { store, until } = await openStore(module, url, client, { limit: 2 });
    expect(store.getState().error).toBe(null);
    expect(store.getState().threads).toHaveLength(2);
    store.fetchNextPage();
    const { threads, nextCursor } = await until(
      ({ threads: all, isFetchingNextPage }) => !isFetchingNextPage && all.length > 2,
    );
    expect(threads.map(({ id }) => id).sort()).toEqual(["t-1", "t-2", "t-3"]);
    expect(threads[0]).toMatchObject({ agentId: "default", createdById: "ada", archived: false });
    expect(nextCursor).toBe(null);
    store.stop();
  });

  test("renames, archives and deletes for good", async () => {
    const { url, client, get } = await threeThreads();
    const { store } = await openStore(module, url, client);
    await store.renameThread("t-1", "Holidays");
    await store.archiveThread("t-2");
    await store.deleteThread("t-3");
    store.stop();

    const again = await openStore(module, url, client);
    expect(again.names()).toEqual(["Holidays"]);
    again.store.stop();
    const all = await openStore(module, url, client, { includeArchived: true });
    expect(all.store.getState().threads.map(({ id, archived }) => [id, archived])).toEqual(
      expect.arrayContaining([
        ["t-1", false],
        ["t-2", true],
      ]),
    );
    all.store.stop();
    expect(await get("t-3")).toBeUndefined();
    expect((await get("t-2"))?.messages).toHaveLength(2);
  });

  test("cannot touch the threads of another user", async () => {
    const { url, client, get } = await threeThreads();
    const { store } = await openStore(module, url, client, { user: "bob" });
    expect(store.getState().threads.map(({ id }) => id)).toEqual(["t-bob"]);
    await expect(store.renameThread("t-1", "Mine")).rejects.toThrow("404");
    await expect(store.archiveThread("t-1")).rejects.toThrow("404");
    await expect(store.deleteThread("t-1")).rejects.toThrow("404");
    store.stop();
    expect(await get("t-1")).toMatchObject({ metadata: {}, messageCount: 2 });
  });
});

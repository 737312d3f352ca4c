import { computed, signal } from "@preact/signals";
import type { ReadonlySignal, Signal } from "@preact/signals";
import { base, chat, lasting, memory } from "../chat/state/instance.ts";
import { fetchThreads, readInfo, readLimits } from "../client/server.ts";
import type { AgentInfo, FileLimits, ServerInfo, ThreadInfo } from "../client/server.ts";
import { wire } from "../model.ts";
import type { Wire } from "../model.ts";

/** The server's description of itself. */
export const server: Signal<ServerInfo | undefined> = signal(undefined);

/** Why there is none. */
export const unreachable: Signal<string | undefined> = signal(undefined);

/** Until the server sends them: the default limits. */
export const limits: Signal<FileLimits> = signal({
  files: 10,
  inlineFileBytes: 10 * 1024 * 1024,
});

export const threadList: Signal<readonly ThreadInfo[]> = signal([]);

/** The agent that is talked to. */
export const agent: ReadonlySignal<AgentInfo | undefined> = computed(() =>
  server.value?.agents.find(({ id }) => id === chat.agentId.value),
);

// A server that is being worked on comes back by itself.
const retryMs = 2000;
let retry: ReturnType<typeof setTimeout> | undefined;

/** Asks the server what it is, until it answers, and opens the thread that the address names. */
export async function boot(): Promise<void> {
  clearTimeout(retry);
  // Before anything else: from then on the address follows the conversation.
  const { thread, agent: wanted } = readAddress();
  try {
    const [info, bounds] = await Promise.all([readInfo(base), readLimits(base)]);
    limits.value = bounds;
    unreachable.value = undefined;
    await meet(info, thread, wanted);
  } catch (error) {
    // `fetch` throws a TypeError for it; any other error is a refusal with the server's message.
    const isRefusal = error instanceof Error && !(error instanceof TypeError);
    unreachable.value = isRefusal ? error.message : "The server cannot be reached.";
    retry = setTimeout(() => void boot(), retryMs);
  }
}

async function meet(info: ServerInfo, thread?: string, wanted?: string): Promise<void> {
  const { agents, defaultAgent, wires } = info;
  const remembered = lasting.getItem(wireKey) as Wire | null;
  if (remembered && wires.includes(remembered)) wire.value = remembered;
  const agentId = agents.find(({ id }) => id === wanted)?.id ?? defaultAgent;
  const opened = thread ? chat.openThread(thread, agentId) : chat.begin(agentId);
  server.value = info;
  await Promise.all([opened, refreshThreads()]);
}

const wireKey = "holodeck.wire";

export function chooseWire(next: Wire): void {
  wire.value = next;
  lasting.setItem(wireKey, next);
}

/** The threads that the server lists, under the titles that this browser knows; else what this browser knows. */
export async function refreshThreads(): Promise<void> {
  const own = memory.threads();
  // A list that cannot be had now is asked for again after the next run.
  const listed = server.value && (await fetchThreads(base, server.value).catch(() => undefined));
  const titles = new Map(own.map(({ id, name }) => [id, name]));
  threadList.value = (listed ?? own).map((one) => {
    const name = one.name ?? titles.get(one.id);
    return name === undefined ? one : { ...one, name };
  });
}

function readAddress(): { thread?: string; agent?: string } {
  const words = new URLSearchParams(location.hash.slice(1));
  const thread = words.get("thread");
  const named = words.get("agent");
  return { ...(thread && { thread }), ...(named && { agent: named }) };
}

/** Puts the thread into the address, so that a reload finds it. An empty one has nothing to be found. */
export function writeAddress(): void {
  if (!server.value) return;
  const words = new URLSearchParams({ agent: chat.agentId.value });
  if (chat.messages.value.length > 0 || chat.status.value !== "idle")
    words.set("thread", chat.threadId.value);
  const hash = `#${words}`;
  if (location.hash !== hash) history.replaceState(null, "", hash);
}

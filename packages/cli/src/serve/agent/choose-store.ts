import type { AgentHandlerOptions, SessionStore } from "@holodeck/agui";
import { openStore } from "../../shared/open-store.ts";
import type { OpenStore } from "../../shared/open-store.ts";
import type { ServeFlags } from "../flags.ts";
import { toLimits } from "../http/handler-options.ts";
import { keepOpen } from "./keep-open.ts";
import type { ServeSettings } from "../settings.ts";

/** Where the threads of an agent are kept. */
interface ChosenStore {
  readonly sessions: SessionStore;
  /** For people. */
  readonly name: string;
}

export interface StoreChoice {
  of(options: AgentHandlerOptions): Promise<ChosenStore>;
  close(): Promise<void>;
}

/**
 * The store of the flag, else of the agent's file, else memory. The store of the flag, or the default,
 * outlives reloads of the file; one that the file creates is created and closed with it.
 */
export function createStoreChoice(given: {
  flags: ServeFlags;
  settings: ServeSettings;
  cwd: string;
}): StoreChoice {
  const { flags, settings, cwd } = given;
  let ours: OpenStore | undefined;
  return {
    async of(options) {
      if (flags.sessions === undefined && options.sessions) {
        return { sessions: options.sessions, name: "from the agent file" };
      }
      const { maxMessages } = settings;
      const limits = toLimits(options, settings);
      ours ??= await openStore(flags.sessions ?? "memory", { limits, maxMessages, cwd });
      return { sessions: keepOpen(ours.sessions), name: ours.name };
    },
    close: async () => ours?.close(),
  };
}

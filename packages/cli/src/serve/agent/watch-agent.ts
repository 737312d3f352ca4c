import { AgentFault } from "../../shared/agent-fault.ts";
import type { Io } from "../../shared/io.ts";
import type { AgentModule } from "../../shared/loaded-agent.ts";
import { createModuleHook } from "../../modules/module-hook.ts";
import { AgentFileError } from "../../yaml/faults/agent-file-error.ts";
import { explainFailure } from "../print/explain-failure.ts";
import type { Generations } from "./generations.ts";
import { loadAgent } from "./load-agent.ts";
import { watchFiles } from "./watch-files.ts";

/** Serves a reloaded agent when one of its files changes. */
export interface AgentWatch {
  /** Watches what the agent was made from. */
  add(loaded: AgentModule): void;
  /** What has changed since is read, and from now on whatever changes. */
  start(agents: Generations): void;
  close(): void;
}

/** To be called before the file is read for the first time: what it imports is noticed on the way. */
export function watchAgent(file: string, io: Io, options: { debug: boolean }): AgentWatch {
  let agents: Generations | undefined;
  let reading: Promise<void> | undefined;
  let isStale = false;
  const files = watchFiles(() => {
    isStale = true;
    catchUp();
  });
  const hook = createModuleHook((path) => files.add([path]));

  function catchUp(): void {
    if (agents) reading ??= readAll().finally(() => (reading = undefined));
  }

  async function readAll(): Promise<void> {
    // What changes while it is read makes it be read again.
    while (isStale && agents) {
      isStale = false;
      await read(agents);
    }
  }

  async function read(current: Generations): Promise<void> {
    hook.renew();
    try {
      const loaded = await loadAgent(file, io);
      files.add(loaded.files);
      await current.replace(loaded);
      io.out.write(`${file} was reloaded.\n`);
    } catch (error) {
      if (error instanceof AgentFault || error instanceof AgentFileError) files.add(error.files);
      const reason = explainFailure(error, { file, cwd: io.cwd, ...options });
      io.err.write(`${reason}\nThe previous agent stays in use.\n`);
    }
  }

  return {
    add: (loaded) => files.add(loaded.files),
    start(running) {
      agents = running;
      if (isStale) catchUp();
    },
    close() {
      agents = undefined;
      files.close();
    },
  };
}

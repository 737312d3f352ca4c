import type { Call } from "@holodeck/agui-core";
import { toShareOwner } from "@holodeck/agui-core/internal";
import type { Launch } from "./to-launch.ts";
import type { Settings } from "../options/options.ts";

/** A run whose files were read. */
export interface ReadLaunch {
  readonly launch: Launch;
  /** Lets go of what the files take. May be called more than once. */
  release(): void;
}

/** Lets the host's processor read the files of a run before its agent does. */
export async function readFiles(
  launch: Launch,
  call: Call,
  { files: processor, limits, logger, sessions }: Settings,
): Promise<ReadLaunch> {
  if (!processor) return { launch, release() {} };
  const { request, context } = launch;
  const { principal, requestId, signal } = call;
  const caller = toShareOwner(principal, call.request.ip);
  const { input, files: uploads = [] } = request;
  const processed = await processor.process({
    input,
    uploads,
    principal,
    caller,
    limits,
    logger,
    requestId,
    sessions,
    signal,
  });
  const { messages, files } = processed;
  let isHeld = true;
  return {
    launch: {
      ...launch,
      replaced: messages,
      context: { ...context, files },
    },
    release() {
      if (!isHeld) return;
      isHeld = false;
      const failed = (error: unknown): void =>
        logger.error({ error, requestId }, "The files of a run were not removed.");
      void Promise.resolve()
        .then(() => processed.release())
        .catch(failed);
    },
  };
}

import { createAgentHandler } from "@holodeck/agui";
import { describe, expect, test, vi } from "vitest";
import { deferred, post, say } from "./_helpers.ts";

describe("closing a handler", () => {
  test("keeps the process alive until it is closed", async () => {
    const aborted = deferred<unknown>();
    const handler = createAgentHandler(
      async function* (_input, { signal }) {
        signal.addEventListener("abort", () => aborted.resolve(signal.reason));
        yield "…";
        await aborted.promise;
      },
      { onDisconnect: "continue" },
    );
    const response = await handler.fetch(post({ messages: [say("hi")] }));
    await response.body?.cancel();

    // Nobody is connected any more: nothing but the closing itself holds the process.
    const released = vi.spyOn(globalThis, "clearInterval");
    const before = heldTimers();
    const closing = handler.close({ timeoutMs: 50 });
    expect(heldTimers()).toBe(before + 1);
    await closing;
    expect(released).toHaveBeenCalledOnce();
    released.mockRestore();
    expect(await aborted.promise).toMatchObject({ code: "shutting-down" });
  });
});

// Timers that would keep Node running; those of the handler's clock do not.
function heldTimers(): number {
  return process.getActiveResourcesInfo().filter((resource) => resource === "Timeout").length;
}

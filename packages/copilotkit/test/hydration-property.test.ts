import { HttpAgent } from "@ag-ui/client";
import { createAgentHandler } from "@holodeck/agui";
import type { AgentEvent } from "@holodeck/agui";
import { silentLogger } from "@holodeck/agui-core";
import { memorySessions } from "@holodeck/agui-sessions";
import { HttpAgent as HttpAgent0 } from "ag-ui-client-0";
import * as fc from "fast-check";
import { beforeAll, expect, test, vi } from "vitest";
import { effort } from "../../../scripts/test-support/effort.ts";
import { validRun } from "../../core/test/guard-valid-runs.ts";
import { randomRun } from "../../core/test/random-run.ts";
import { copilotkit } from "../src/index.ts";

// To look for more: HYDRATION_RUNS=100 PROPERTY_SEED=random.
const scale = Number(process.env.HYDRATION_RUNS ?? effort(1, 0.25));

// The clients complain about what snapshots took away under their hands.
beforeAll(() => {
  vi.spyOn(console, "warn").mockReturnValue(undefined);
});

let script: readonly object[] = [];
const { fetch } = createAgentHandler(
  async function* () {
    yield* script as readonly AgentEvent[];
  },
  {
    logger: silentLogger,
    protocols: [copilotkit()],
    sessions: memorySessions({ evict: "lru" }),
  },
);

/** What a user sees of a thread. Metadata says, among other things, whether an answer was cut short. */
interface View {
  readonly messages: readonly unknown[];
  readonly state: unknown;
}

interface Options {
  readonly verb: "run" | "connect";
  readonly threadId: string;
  readonly user?: string;
}

/** Follows one request with an official client that verifies what it is sent. */
async function follow(Agent: typeof HttpAgent, options: Options): Promise<View> {
  const { verb, threadId, user } = options;
  const agent = new Agent({
    url: `http://test.local/agui/agent/default/${verb}`,
    threadId,
    fetch: (url: string, init: RequestInit) => fetch(new Request(url, init)),
  });
  if (user !== undefined) agent.addMessage({ id: "u", role: "user", content: user });
  await agent.runAgent();
  const messages = agent.messages.map((message) => {
    const { metadata: _metadata, ...rest } = message as { metadata?: unknown };
    return rest;
  });
  return { messages, state: agent.state };
}

let threads = 0;

test.for([
  ["1.0", HttpAgent],
  ["0.0.59", HttpAgent0 as unknown as typeof HttpAgent],
] as const)(
  "a fresh client of AG-UI %s is shown what the one before it saw",
  { timeout: 300_000 * scale },
  async ([, Agent]) => {
    await fc.assert(
      fc.asyncProperty(fc.oneof(validRun, randomRun), async (events) => {
        script = events;
        const threadId = `t-${threads++}`;
        const seen = await follow(Agent, { verb: "run", threadId, user: "go" });
        const shown = await follow(Agent, { verb: "connect", threadId });
        expect(shown).toEqual(seen);
      }),
      { numRuns: 40 * scale },
    );
  },
);

import { describe } from "vitest";
import { createAgentHandler } from "@holodeck/agui";
import { createToolLoopAgent } from "@holodeck/agui-tools";
import type { AgentLike, AgentObject, BaseEvent, RunAgentInput, RunContext } from "@holodeck/agui";
import { adapterUsage, testAdapter } from "../../../src/vitest/index.ts";
import type { AdapterSetup, AdapterTool, ModelPart } from "../../../src/vitest/index.ts";

/** An adapter that is right, piece by piece, so that each piece can be broken. */
interface Pieces {
  readonly request?: (input: RunAgentInput) => unknown;
  readonly parts?: (parts: AsyncIterable<ModelPart>) => AsyncIterable<ModelPart>;
  readonly signal?: (signal: AbortSignal) => AbortSignal | undefined;
  readonly usage?: (context: RunContext) => void;
  readonly tool?: (tool: AdapterTool) => AdapterTool;
  readonly agent?: (agent: AgentObject, setup: AdapterSetup) => AgentLike;
}

function create(setup: AdapterSetup, pieces: Pieces): AgentLike {
  const {
    request = ({ messages, tools }) => ({ messages, tools }),
    parts = (given) => given,
    signal = (given) => given,
    usage = ({ emit }) => emit.usage(adapterUsage),
    tool = (given) => given,
    agent = (given) => given,
  } = pieces;
  const loop = createToolLoopAgent({
    async *generate(input, context): AsyncGenerator<BaseEvent | string> {
      for await (const part of parts(setup.model.answer(request(input), signal(context.signal)))) {
        if (part.type === "text") yield part.delta;
        else if (part.type === "reasoning") await context.emit.reasoning(part.delta);
        else await context.emit.toolCall(part.name, stream(part.args), { id: part.id });
      }
      usage(context);
    },
    tools: setup.tools.map((one) => {
      const { execute, ...definition } = tool(one);
      return { ...definition, invoke: (args: unknown, context) => execute(args, context.signal) };
    }),
  });
  return agent(loop, setup);
}

async function* stream<T>(values: Iterable<T>): AsyncGenerator<T> {
  yield* values;
}

function testBroken(name: string, pieces: Pieces = {}): void {
  testAdapter(name, {
    createHandler: createAgentHandler,
    create: (setup) => create(setup, pieces),
  });
}

testBroken("is right");

// The faults that are found because something never happens: four cases run into this time.
describe("never", { timeout: 15_000 }, () => {
  testBroken("collects the answer", {
    async *parts(parts) {
      const all: ModelPart[] = [];
      for await (const part of parts) all.push(part);
      yield* all;
    },
  });
  testBroken("leaves the model running", { signal: () => undefined });
});
testBroken("sends reasoning as text", {
  async *parts(parts) {
    for await (const part of parts) {
      yield part.type === "reasoning" ? { type: "text", delta: part.delta } : part;
    }
  },
});
testBroken("joins arguments", {
  async *parts(parts) {
    for await (const part of parts) {
      yield part.type === "call" ? { ...part, args: [part.args.join("")] } : part;
    }
  },
});
testBroken("makes the first call only", {
  async *parts(parts) {
    let hasCalled = false;
    for await (const part of parts) {
      if (part.type === "call" && hasCalled) continue;
      hasCalled ||= part.type === "call";
      yield part;
    }
  },
});
testBroken("shows why a tool failed", {
  tool: (tool) => ({
    ...tool,
    execute: (args, signal) => tool.execute(args, signal).catch((error: Error) => error.message),
  }),
});
testBroken("does not ask", { tool: (tool) => ({ ...tool, needsApproval: false }) });
testBroken("takes a no for a yes", {
  agent: (agent, { tools }) => ({
    ...agent,
    async *run(input, context) {
      for (const { payload } of context.session.answers) {
        if ((payload as { approved: boolean }).approved) continue;
        for (const tool of tools) await tool.execute({ city: "Bern" });
      }
      yield* agent.run(input, context) as AsyncIterable<BaseEvent>;
    },
  }),
});
testBroken("keeps its questions in the process", {
  agent(agent) {
    let runs = 0;
    return {
      ...agent,
      run: (input, context) =>
        runs++ === 0 && context.session.answers.length > 0 ? [] : agent.run(input, context),
    };
  },
});
testBroken("answers for the client", {
  agent: (agent) => ({
    ...agent,
    async *run(input, context) {
      let open: string | undefined;
      for await (const event of agent.run(input, context) as AsyncIterable<BaseEvent>) {
        if (event.type === "TOOL_CALL_START" && event.toolCallName === "locate") {
          open = event.toolCallId as string;
        }
        yield event;
      }
      if (open !== undefined) await context.emit.toolResult(open, "Somewhere.");
    },
  }),
});
testBroken("passes errors on", {
  async *parts(parts) {
    try {
      yield* parts;
    } catch (error) {
      yield { type: "text", delta: (error as Error).message };
    }
  },
});
testBroken("does not count", { usage: () => {} });
testBroken("counts twice", {
  usage: ({ emit }) => {
    emit.usage(adapterUsage);
    emit.usage(adapterUsage);
  },
});
testBroken("forgets the history", {
  request: ({ messages, tools }) => ({ messages: messages.slice(-1), tools }),
});
testBroken("repeats the history", {
  request: ({ messages, tools }) => ({ messages: [...messages, ...messages], tools }),
});
testBroken("cuts long answers", {
  async *parts(parts) {
    let count = 0;
    for await (const part of parts) if (++count <= 1_000) yield part;
  },
});

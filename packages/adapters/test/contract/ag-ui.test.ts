import { HttpAgent } from "@ag-ui/client";
import { createAgentHandler } from "@holodeck/agui";
import { EventType, silentLogger } from "@holodeck/agui-core";
import type { AgentFunction, BaseEvent } from "@holodeck/agui-core";
import { serve } from "@holodeck/agui-node";
import { adapterUsage } from "@holodeck/agui-testing/vitest";
import type { AdapterModel, AdapterSetup } from "@holodeck/agui-testing/vitest";
import { HttpAgent as OlderHttpAgent } from "ag-ui-client-0";
import { onTestFinished } from "vitest";
import { fromAbstractAgent } from "../../src/ag-ui/index.ts";
import { createTurn } from "../../src/_turn.ts";
import { loopOf } from "./_loop.ts";
import { testSubject } from "./_subject.ts";

testSubject("fromAbstractAgent with @ag-ui/client 1.0", async (setup) => {
  const url = await setup.shared(() => serveLoop(setup));
  return fromAbstractAgent(new HttpAgent({ url }), options(setup));
});

testSubject("fromAbstractAgent with @ag-ui/client 0.0.59", async (setup) => {
  const url = await setup.shared(() => serveLoop(setup));
  return fromAbstractAgent(new OlderHttpAgent({ url }), options(setup));
});

const options = ({ tools }: AdapterSetup) => ({ serverTools: tools.map(({ name }) => name) });

/** The AG-UI server behind the adapter: one, whichever process asks. */
async function serveLoop({ model, tools }: AdapterSetup): Promise<string> {
  const agent = loopOf(generateWith(model), tools);
  const handler = createAgentHandler(agent, { logger: silentLogger, strict: true });
  const { url, close } = await serve(handler, { port: 0, signals: false });
  onTestFinished(() => close());
  return `${url}/agui`;
}

const generateWith = (model: AdapterModel): AgentFunction =>
  async function* ({ messages, tools }, { signal, emit }): AsyncGenerator<BaseEvent> {
    const turn = createTurn();
    for await (const part of model.answer({ messages, tools }, signal)) {
      if (part.type === "text") yield* [...turn.endReasoning("r"), ...turn.text("t", part.delta)];
      if (part.type === "reasoning") yield* turn.reasoning("r", part.delta);
      if (part.type !== "call") continue;
      yield* turn.startCall(part.id, part.name);
      for (const delta of part.args) {
        yield { type: EventType.TOOL_CALL_ARGS, toolCallId: part.id, delta };
      }
      yield* turn.endCall(part.id);
    }
    yield* turn.endStep();
    emit.usage(adapterUsage);
  };

import { createAgentHandler, memorySessions } from "@holodeck/agui";
import type { AgentFunction, AgentHandler, AgentLike, ServerTool } from "@holodeck/agui";
import { describe, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { fromAiSdk, toAiSdkMessages } from "../../src/ai-sdk/index.ts";
import { storeKinds } from "../../../agui/test/_shared-stores.ts";
import type { SharedStore } from "../../../agui/test/_shared-stores.ts";
import { eventsOf, post } from "../_helpers.ts";
import { call, finish, scriptedModel, sdks, text } from "./_models.ts";
import type { Loose, Sdk } from "./_models.ts";

const user = { id: "u", role: "user", content: "Remove 7." };

/** Two servers on one store, and what a person says to their questions. */
function serveTwo(
  agent: AgentLike,
  tools: readonly ServerTool[] = [],
  { owner: sessions, other = sessions }: Omit<SharedStore, "close"> = { owner: memorySessions() },
) {
  const warnings: Loose[] = [];
  const warn = (fields: object, message?: string): void =>
    void warnings.push({ ...fields, message });
  const logger = { debug() {}, info() {}, error() {}, warn };
  const one = createAgentHandler(agent, { sessions, logger, tools: [...tools] });
  const two = createAgentHandler(agent, { sessions: other, logger, tools: [...tools] });
  let runs = 0;
  const run = async (handler: AgentHandler, body: object = {}) => {
    const session = await sessions.get({ principal: "", threadId: "t" });
    const messages = session?.messages ?? [user];
    const request = post({ protocolVersion: "1.0", runId: `r${++runs}`, messages, ...body });
    const response = await handler.fetch(request);
    return { status: response.status, events: response.ok ? await eventsOf(response) : [] };
  };
  return {
    sessions,
    warnings,
    async ask() {
      const { events } = await run(one);
      return (events.at(-1) as Loose).outcome.interrupts[0].id as string;
    },
    answer: (interruptId: string, approved: boolean) =>
      run(two, { resume: [{ interruptId, status: "resolved", payload: { approved } }] }),
  };
}

const script = (sdk: Sdk): Loose =>
  scriptedModel(
    sdk,
    [...call("call-1", "remove", '{"id":7}'), finish(sdk, "tool-calls")],
    [...text("Done."), finish(sdk)],
    [...text("Done."), finish(sdk)],
  );

describe.for(sdks.filter(({ major }) => major > 5))(
  "an approved tool with AI SDK $major",
  (sdk) => {
    const { streamText, tool, stepCountIs } = sdk.ai;
    const inputSchema = z.object({ id: z.number() });

    /** An agent that has the tool in `streamText`. */
    function owning(
      removed: unknown[],
      options: { forgets?: boolean; onRun?: () => unknown } = {},
    ) {
      const model = script(sdk);
      const execute = async ({ id }: Loose): Promise<string> => {
        removed.push(id);
        await options.onRun?.();
        return `Removed ${id}.`;
      };
      const remove = tool({ description: "Removes.", inputSchema, needsApproval: true, execute });
      return fromAiSdk(({ messages }, { session }) =>
        streamText({
          model,
          messages: toAiSdkMessages(messages, options.forgets ? {} : { answers: session.answers }),
          tools: { remove },
          stopWhen: stepCountIs(3),
        }),
      );
    }

    test.for(storeKinds)("of streamText runs once after a yes: $name", async (kind, { skip }) => {
      const store = await kind.open("ai-sdk-approvals");
      if (!store) return skip();
      onTestFinished(() => store.close());
      const removed: unknown[] = [];
      const taken: unknown[] = [];
      const onRun = async () => {
        const session = await talk.sessions.get({ principal: "", threadId: "t" });
        taken.push(session?.active?.taken);
      };
      const talk = serveTwo(owning(removed, { onRun }), [], store);
      const id = await talk.ask();
      await talk.answer(id, true);
      expect((await talk.answer(id, true)).status).toBe(409);
      expect(removed).toEqual([7]);
      // Written down before: a process that ends here leaves an error and no second try.
      expect(taken).toMatchObject([[{ id: "call-1", name: "remove", args: { id: 7 } }]]);
      expect(talk.warnings).toEqual([]);
    });

    test("of streamText does not run after a no", async () => {
      const removed: unknown[] = [];
      const talk = serveTwo(owning(removed));
      const id = await talk.ask();
      await talk.answer(id, false);
      expect((await talk.answer(id, true)).status).toBe(409);
      expect(removed).toEqual([]);
    });

    test("of streamText that the agent forgets is named by one warning", async () => {
      const removed: unknown[] = [];
      const talk = serveTwo(owning(removed, { forgets: true }));
      await talk.answer(await talk.ask(), true);
      expect(removed).toEqual([]);
      expect(talk.warnings).toMatchObject([{ tools: ["remove"] }]);
    });

    test.for([
      [true, [7], "Removed 7."],
      [false, [], "approval-denied"],
    ] as const)(
      "of the handler is not run again by streamText (approved: %s)",
      async ([approved, expected, words]) => {
        const byServer: unknown[] = [];
        const byModel: unknown[] = [];
        const remove: ServerTool = {
          name: "remove",
          description: "Removes.",
          needsApproval: true,
          invoke: (args) => {
            const { id } = args as { id: number };
            byServer.push(id);
            return `Removed ${id}.`;
          },
        };
        const prompts: Loose[] = [];
        const model = scriptedModel(sdk, [...text("Done."), finish(sdk)]);
        const streaming = fromAiSdk((input, { session }) =>
          streamText({
            model,
            messages: toAiSdkMessages(input.messages, { answers: session.answers }),
            tools: {
              remove: tool({
                description: "Removes.",
                inputSchema,
                needsApproval: true,
                execute: async ({ id }: Loose) => void byModel.push(id),
              }),
            },
            stopWhen: stepCountIs(3),
          }),
        );
        const agent: AgentFunction = (input, context) => {
          if (context.session.answers.length === 0) return context.callTool("remove", { id: 7 });
          prompts.push(input.messages);
          return streaming(input, context);
        };
        const talk = serveTwo(agent, [remove]);
        const { events } = await talk.answer(await talk.ask(), approved);
        expect(byServer).toEqual(expected);
        expect(byModel).toEqual([]);
        const results = events.filter(({ type }) => type === "TOOL_CALL_RESULT");
        expect(results).toMatchObject([{ content: expect.stringContaining(words) }]);
        expect(prompts[0].at(-1)).toMatchObject({ role: "tool", content: results[0]!.content });
        expect(JSON.stringify(model.doStreamCalls[0].prompt)).toContain(words);
      },
    );

    test("that a model calls through callTool runs once, also when the model asks again", async () => {
      const removed: unknown[] = [];
      const remove: ServerTool = {
        name: "remove",
        description: "Removes.",
        needsApproval: true,
        invoke: (args) => {
          removed.push((args as { id: number }).id);
          return "Removed.";
        },
      };
      const model = scriptedModel(
        sdk,
        [...call("call-1", "remove", '{"id":7}'), finish(sdk, "tool-calls")],
        [...text("One moment."), finish(sdk)],
        [...call("call-2", "remove", '{"id":7}'), finish(sdk, "tool-calls")],
        [...text("Done."), finish(sdk)],
      );
      const agent = fromAiSdk(({ messages }, { callTool }) =>
        streamText({
          model,
          messages: toAiSdkMessages(messages),
          tools: {
            remove: tool({
              description: "Removes.",
              inputSchema,
              execute: (args: Loose) => callTool("remove", args),
            }),
          },
          stopWhen: stepCountIs(3),
        }),
      );
      const talk = serveTwo(agent, [remove]);
      const id = await talk.ask();
      expect(removed).toEqual([]);
      await talk.answer(id, true);
      expect(removed).toEqual([7]);
    });
  },
);

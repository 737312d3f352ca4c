import { EventType } from "@holodeck/agui-core";
import { afterEach, describe, expect, test } from "vitest";
import { gate } from "../protocol/_protocol-frames.ts";
import { openScene, runTimeoutMs } from "./_adapter-bench.ts";
import type { AdapterBenchOptions, AdapterTool, AdapterUser } from "./_adapter-bench.ts";
import type { AdapterFeature } from "./_adapter-features.ts";
import {
  expectMasked,
  expectSuccess,
  interruptsOf,
  scriptedTool,
  secret,
  timesIn,
  weatherCall,
} from "./_adapter-kit.ts";
import { adapterUsage, callPart, reply, textParts, whenAborted } from "./_adapter-model.ts";
import type { ModelAnswer } from "./_adapter-model.ts";

export interface TestAdapterOptions extends AdapterBenchOptions {
  /** Features that the framework does not have, each with the reason; their cases are skipped. */
  readonly lacks?: Readonly<Partial<Record<AdapterFeature, string>>>;
}

const place = { type: "object", properties: { exact: { type: "boolean" } }, required: ["exact"] };
const locate = { name: "locate", description: "Where the user is.", parameters: place };

/**
 * Proves that an agent of another framework, behind its adapter, is a good agent of a handler. The framework
 * runs with a fake model, which reads its answers from `setup.model`.
 *
 * @example
 * ```ts
 * testAdapter("fromAcme", {
 *   createHandler: createAgentHandler,
 *   create: ({ model, tools }) => fromAcme(new AcmeAgent({ model: fakeAcme(model), tools })),
 *   lacks: { reasoning: "Acme shows none." },
 * });
 * ```
 */
export function testAdapter(name: string, options: TestAdapterOptions): void {
  const { lacks = {} } = options;
  const closers: (() => Promise<void>)[] = [];
  const open = (answers: readonly ModelAnswer[], ...tools: AdapterTool[]): Promise<AdapterUser> =>
    openScene(options, { answers, tools }, closers);
  const testOf = (feature: AdapterFeature) => test.skipIf(lacks[feature] !== undefined);

  describe(`adapter: ${name}`, () => {
    afterEach(async () => {
      for (const close of closers.splice(0)) await close();
    });

    test("sends each piece of text before the model produces the next", async () => {
      const received = gate();
      const user = await open([
        reply(...textParts("one "), () => received.opened, ...textParts("two")),
      ]);
      const run = await user.send({
        message: "hi",
        onEvent: ({ delta }) => delta === "one " && received.open(),
      });
      expectSuccess(run, "one two");
      expect(run.messages).toMatchObject([
        { role: "user", content: "hi" },
        { role: "assistant", content: "one two" },
      ]);
    });

    testOf("reasoning")("sends reasoning, and not as text", async () => {
      const thoughts = ["Let me ", "see."].map((delta) => ({ type: "reasoning" as const, delta }));
      const user = await open([reply(...thoughts, ...textParts("Yes."))]);
      const run = await user.send({ message: "hi" });
      expectSuccess(run, "Yes.");
      expect(run.reasoning).toBe("Let me see.");
      expect(run.messages.map(({ role }) => role)).toEqual(["user", "reasoning", "assistant"]);
    });

    test("runs a tool, and sends the call and its result", async () => {
      const weather = scriptedTool("weather", ({ city: where }) => ({ where, celsius: 18 }));
      const user = await open([weatherCall, reply(...textParts("18 degrees."))], weather);
      const run = await user.send({ message: "hi" });
      expectSuccess(run, "18 degrees.");
      expect(weather.calls).toEqual([{ city: "Bern" }]);
      const [made] = run.toolCalls;
      expect(run.toolCalls).toHaveLength(1);
      expect(made).toMatchObject({ name: "weather", args: { city: "Bern" } });
      expect(JSON.parse(made!.result as string)).toEqual({ where: "Bern", celsius: 18 });
      expect(user.model.requests[1]).toContain("celsius");
    });

    testOf("streamedArguments")("sends the arguments of a call in pieces", async () => {
      const weather = scriptedTool("weather", () => "rain");
      const user = await open([weatherCall, reply(...textParts("Rain."))], weather);
      const run = await user.send({ message: "hi" });
      expectSuccess(run, "Rain.");
      const pieces = run.events.filter(({ type }) => type === EventType.TOOL_CALL_ARGS);
      expect(pieces.map(({ delta }) => delta)).toEqual(['{"city":', '"Bern"}']);
    });

    testOf("parallelCalls")("sends all calls of one answer, and their results", async () => {
      const weather = scriptedTool("weather", ({ city: where }) => `rain in ${String(where)}`);
      const answer = reply(
        callPart("call-1", "weather", '{"city":', '"Bern"}'),
        callPart("call-2", "weather", '{"city":', '"Rome"}'),
      );
      const user = await open([answer, reply(...textParts("Rain."))], weather);
      const run = await user.send({ message: "hi" });
      expectSuccess(run, "Rain.");
      expect(run.toolCalls).toMatchObject([
        { args: { city: "Bern" }, result: expect.stringContaining("rain in Bern") as string },
        { args: { city: "Rome" }, result: expect.stringContaining("rain in Rome") as string },
      ]);
      const asked = run.messages.filter(({ role }) => role === "assistant");
      expect(asked[0]).toMatchObject({ toolCalls: [{}, {}] });
    });

    testOf("failingTool")("continues after a tool that fails, without its reason", async () => {
      const weather = scriptedTool("weather", () => {
        throw new Error(secret);
      });
      const user = await open([weatherCall, reply(...textParts("Sorry."))], weather);
      const run = await user.send({ message: "hi" });
      expectSuccess(run, "Sorry.");
      expect(run.toolCalls).toMatchObject([{ result: expect.any(String) as string }]);
      expectMasked(run);
    });

    const approvals = [
      { title: "runs a tool once it is approved", approved: true, elsewhere: false },
      { title: "does not run a tool that is denied", approved: false, elsewhere: false },
      { title: "runs a tool that is approved in another process", approved: true, elsewhere: true },
      { title: "accepts a denial in another process", approved: false, elsewhere: true },
    ];
    for (const { title, approved, elsewhere } of approvals) {
      const isLacking = lacks.approval ?? (elsewhere ? lacks.approvalElsewhere : undefined);
      test.skipIf(isLacking !== undefined)(title, async () => {
        const remove = { ...scriptedTool("remove", () => "It is removed."), needsApproval: true };
        const answer = reply(callPart("call-1", "remove", '{"city":', '"Bern"}'));
        const user = await open([answer, reply(...textParts("Done."))], remove);
        const first = await user.send({ message: "Remove Bern." });
        expect(first.error).toBeUndefined();
        expect(remove.calls).toEqual([]);
        expect(first.toolCalls).toMatchObject([{ name: "remove", args: { city: "Bern" } }]);
        const [question] = interruptsOf(first);
        if (elsewhere) await user.changeProcess();
        const payload = { approved };
        const second = await user.send({
          resume: [{ interruptId: question!.id, status: "resolved", payload }],
        });
        expectSuccess(second, "Done.");
        expect(remove.calls).toEqual(approved ? [{ city: "Bern" }] : []);
        const results = second.messages.filter(({ role }) => role === "tool");
        expect(results).toMatchObject([{ toolCallId: first.toolCalls[0]!.id }]);
        expect(JSON.stringify(results).includes("It is removed.")).toBe(approved);
        expect(user.model.requests).toHaveLength(2);
      });
    }

    testOf("clientTools")("leaves a tool of the client to the client", async () => {
      const answer = reply(callPart("call-1", "locate", '{"exact":', "true}"));
      const user = await open([answer, reply(...textParts("You are in Bern."))]);
      const clientTools = [locate];
      const first = await user.send({ message: "Where am I?", clientTools });
      expect(first.error).toBeUndefined();
      expect(user.model.requests[0]).toContain("locate");
      const [made] = first.toolCalls;
      expect(made).toMatchObject({ name: "locate", args: { exact: true } });
      expect(made!.result).toBeUndefined();
      expect(first.outcome).toMatchObject({ pendingToolCallIds: [made!.id] });
      const result = { toolCallId: made!.id, content: "near the bears" };
      const second = await user.send({ result, clientTools });
      expectSuccess(second, "You are in Bern.");
      expect(timesIn(user.model.requests[1]!, "near the bears")).toBe(1);
    });

    testOf("stopInTool")("stops while a tool runs, and answers the next message", async () => {
      const started = gate();
      const weather = scriptedTool("weather", (_args, signal) => {
        started.open();
        return signal ? whenAborted(signal) : new Promise(() => {});
      });
      const user = await open([weatherCall, reply(...textParts("Hello again."))], weather);
      const running = user.send({ message: "hi" });
      await started.opened;
      await user.stop();
      const stopped = await running;
      expect(stopped.error).toBeUndefined();
      expect(stopped.outcome).toMatchObject({ type: "cancelled" });
      expect(user.model.requests).toHaveLength(1);
      const next = await user.send({ message: "Are you there?" });
      expectSuccess(next, "Hello again.");
      expect(user.model.requests[1]).toContain("Are you there?");
    });

    test("fails when the model does, without the reason", async () => {
      const fail = (): never => {
        throw new Error(secret);
      };
      const user = await open([reply(...textParts("Well"), fail)]);
      const run = await user.send({ message: "hi" });
      expect(run.error).toMatchObject({ code: expect.any(String) as string });
      expectMasked(run);
    });

    testOf("usage")("reports the tokens of all answers of the model", async () => {
      const user = await open(
        [weatherCall, reply(...textParts("Rain."))],
        scriptedTool("weather", () => "rain"),
      );
      const { usage } = await user.send({ message: "hi" });
      const total = (key: "inputTokens" | "outputTokens"): number =>
        usage.reduce((sum, one) => sum + (one[key] ?? 0), 0);
      expect(total("inputTokens")).toBe(2 * adapterUsage.inputTokens);
      expect(total("outputTokens")).toBe(2 * adapterUsage.outputTokens);
    });

    test("gives the model the earlier conversation, each message once", async () => {
      const weather = scriptedTool("weather", () => "it rains cats");
      const answers = [
        weatherCall,
        reply(...textParts("Take an umbrella.")),
        reply(...textParts("Yes.")),
      ];
      const user = await open(answers, weather);
      await user.send({ message: "How is it outside?" });
      expectSuccess(await user.send({ message: "Is that sure?" }), "Yes.");
      const words = ["How is it outside?", "it rains cats", "Take an umbrella.", "Is that sure?"];
      const asked = user.model.requests[2]!;
      expect(words.map((one) => [one, timesIn(asked, one)])).toEqual(words.map((one) => [one, 1]));
      expect(words.map((one) => asked.indexOf(one))).toEqual(
        words.map((one) => asked.indexOf(one)).toSorted((a, b) => a - b),
      );
    });

    test("sends a huge answer whole", async () => {
      const deltas = Array.from({ length: 2_000 }, (_, index) => `${index} ${"x".repeat(500)}\n`);
      const user = await open([reply(...textParts(...deltas))]);
      expectSuccess(await user.send({ message: "hi" }), deltas.join(""));
    });

    test("stops a model that never ends its answer", async () => {
      const left = gate();
      const endless: ModelAnswer = async function* (signal) {
        try {
          for (let index = 0; !signal.aborted; index++) {
            yield { type: "text", delta: `${index} ` };
            // A socket would let others work, too.
            await new Promise((resolve) => setImmediate(resolve));
          }
        } finally {
          left.open();
        }
      };
      const user = await open([endless, reply(...textParts("Hello again."))]);
      let count = 0;
      const run = await user.send({
        message: "hi",
        onEvent: ({ type }) =>
          type === EventType.TEXT_MESSAGE_CONTENT && ++count === 3 ? user.stop() : undefined,
      });
      expect(run.outcome).toMatchObject({ type: "cancelled" });
      await left.opened;
      expectSuccess(await user.send({ message: "And now?" }), "Hello again.");
    });

    test("ends the run of a model that stays silent", async () => {
      const left = gate();
      const silent: ModelAnswer = async function* (signal) {
        yield { type: "text", delta: "Well" };
        await whenAborted(signal);
        left.open();
      };
      const user = await open([silent]);
      const run = await user.send({
        message: "hi",
        // The client reads on meanwhile.
        onEvent: ({ delta }) => delta === "Well" && void user.clock.advance(2 * runTimeoutMs),
      });
      expect(run.error).toMatchObject({ code: "timeout" });
      await left.opened;
    });
  });
}

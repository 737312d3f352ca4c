import type {
  AgentEvent,
  AgentObject,
  Awaitable,
  RunAgentInput,
  RunContext,
} from "@holodeck/agui-core";

/** The output of a function in a script: nothing, one value or several. */
export type ScriptOutput =
  | AgentEvent
  | string
  | readonly (AgentEvent | string)[]
  | undefined
  | void;

/** One step: an event, a text delta, a pause, a failure, a hang until the run is aborted, or code. */
export type ScriptStep =
  | AgentEvent
  | string
  | { readonly wait: PromiseLike<unknown> | (() => PromiseLike<unknown>) }
  | { readonly throw: unknown }
  | { readonly hang: true }
  | ((input: RunAgentInput, context: RunContext) => Awaitable<ScriptOutput>);

export type Script = readonly ScriptStep[];

export interface ScriptedAgent extends AgentObject {
  run(
    input: RunAgentInput,
    context: RunContext,
  ): AsyncGenerator<AgentEvent | string, void, undefined>;
  /** The inputs it was run with, oldest first. */
  readonly inputs: readonly RunAgentInput[];
}

/**
 * An agent that plays a script: one script per run, the last one again for every further run.
 *
 * @example
 * ```ts
 * const agent = scriptedAgent(["Hello ", { wait: gate }, "world"]);
 * ```
 */
export function scriptedAgent(...scripts: readonly Script[]): ScriptedAgent {
  for (const script of scripts) assertScript(script);
  const inputs: RunAgentInput[] = [];
  return {
    inputs,
    run(input, context) {
      const script = scripts[Math.min(inputs.length, scripts.length - 1)] ?? [];
      inputs.push(input);
      return play(script, input, context);
    },
  };
}

async function* play(
  script: Script,
  input: RunAgentInput,
  context: RunContext,
): AsyncGenerator<AgentEvent | string, void, undefined> {
  for (const step of script) {
    if (typeof step === "function") {
      const output = await step(input, context);
      if (Array.isArray(output)) yield* output as readonly (AgentEvent | string)[];
      else if (output !== undefined) yield output as AgentEvent | string;
    } else if (typeof step === "string" || "type" in step) {
      yield step;
    } else if ("throw" in step) {
      throw step.throw;
    } else if ("wait" in step) {
      const { wait } = step;
      await Promise.race([typeof wait === "function" ? wait() : wait, aborted(context.signal)]);
    } else {
      await aborted(context.signal);
    }
  }
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const fail = (): void => reject(signal.reason as Error);
    if (signal.aborted) fail();
    else signal.addEventListener("abort", fail, { once: true });
  });
}

function assertScript(script: unknown): asserts script is Script {
  if (Array.isArray(script)) return;
  throw new TypeError(
    `A script is an array of steps, like scriptedAgent(["Hello ", "world"]), not ${typeof script}.`,
  );
}

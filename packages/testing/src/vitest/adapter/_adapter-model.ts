import type { Awaitable } from "@holodeck/agui-core";

/** A piece of a model's answer, independent of the framework. */
export type ModelPart =
  | { readonly type: "text"; readonly delta: string }
  | { readonly type: "reasoning"; readonly delta: string }
  | {
      readonly type: "call";
      readonly id: string;
      readonly name: string;
      /** Pieces of its JSON. */
      readonly args: readonly string[];
    };

/** One answer of the model. It may throw, and it may wait for the signal. */
export type ModelAnswer = (signal: AbortSignal) => AsyncIterable<ModelPart>;

/** What a fake model of a framework reads its answers from. */
export interface AdapterModel {
  /** Yields the answer to one request; `signal` is the one that the framework gives to its models. */
  answer(request: unknown, signal?: AbortSignal): AsyncIterable<ModelPart>;
  /** What the model has been asked, as JSON. */
  readonly requests: readonly string[];
}

/** Each answer of the model costs this. */
export const adapterUsage = { inputTokens: 3, outputTokens: 5 } as const;

/** A model with one answer per request. A request too many is an error. */
export function createAdapterModel(answers: readonly ModelAnswer[]): AdapterModel {
  const requests: string[] = [];
  return {
    requests,
    answer(request, signal = new AbortController().signal) {
      const answer = answers[requests.length];
      requests.push(JSON.stringify(request));
      if (!answer) throw new Error(`The model was asked ${requests.length} times.`);
      return answer(signal);
    },
  };
}

export const textParts = (...deltas: string[]): ModelPart[] =>
  deltas.map((delta) => ({ type: "text", delta }));

export const callPart = (id: string, name: string, ...args: string[]): ModelPart => ({
  type: "call",
  id,
  name,
  args,
});

/** An answer of these parts; a function among them is called at its place. */
export function reply(...steps: (ModelPart | (() => Awaitable<void>))[]): ModelAnswer {
  return async function* () {
    for (const step of steps) {
      if (typeof step === "function") await step();
      else yield step;
    }
  };
}

/** Resolves when the signal is aborted. */
export function whenAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

import { expect } from "vitest";
import type { RecordedRun } from "../../recorded-run.ts";
import type { AdapterTool } from "./_adapter-bench.ts";
import { callPart, reply } from "./_adapter-model.ts";
import type { ModelAnswer } from "./_adapter-model.ts";

/** Must not reach a client. */
export const secret = "postgres://user:hunter2@db";

const city = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };

export const weatherCall: ModelAnswer = reply(callPart("call-1", "weather", '{"city":', '"Bern"}'));

type Args = Record<string, unknown>;

export function scriptedTool(
  name: string,
  run: (args: Args, signal?: AbortSignal) => unknown,
): AdapterTool & { readonly calls: unknown[] } {
  const calls: unknown[] = [];
  return {
    name,
    description: `The tool ${name}.`,
    parameters: city,
    needsApproval: false,
    calls,
    async execute(args, signal) {
      calls.push(args);
      return run(args as Args, signal);
    },
  };
}

export function expectSuccess(run: RecordedRun, words: string): void {
  expect(run.error).toBeUndefined();
  expect(run.outcome).toEqual({ type: "success" });
  // Of a huge answer the difference would not be readable.
  expect(run.text === words, `The text is ${run.text.slice(0, 200)}`).toBe(true);
}

export function expectMasked(run: RecordedRun): void {
  expect(JSON.stringify(run.events)).not.toContain(secret);
}

export function interruptsOf({ outcome }: RecordedRun): readonly { readonly id: string }[] {
  expect(outcome).toMatchObject({ type: "interrupt", interrupts: [{}] });
  return (outcome as { interrupts: { id: string }[] }).interrupts;
}

export const timesIn = (all: string, words: string): number => all.split(words).length - 1;

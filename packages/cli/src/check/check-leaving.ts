import { NoAnswer } from "./read/ask.ts";
import { describeAnswer } from "./probes.ts";
import type { Probe } from "./probes.ts";
import { createRunInput } from "./read/run-input.ts";

/** Leaves a run at its first bytes and asks for another one. */
export async function checkLeaving(probe: Probe): Promise<void> {
  const { findings, target } = probe;
  const prompt = target.prompts[0]!;
  const body = JSON.stringify(createRunInput(prompt));
  const left = await probe.send({ body, isEnough: () => true }, "the run that is left");
  if (left instanceof NoAnswer || left.status !== 200) return;
  const name = "the run after one that was left";
  const { answer, examined } = await probe.run(createRunInput(prompt), name);
  // A server may fall only when it next writes to the one that left.
  const last = await probe.send({ body: "{" }, name);
  findings.show("survives-leaving");
  const isWhole = examined !== undefined && !isCut(answer);
  if (!isWhole) findings.break("survives-leaving", describeAnswer(answer), name);
  else if (last instanceof NoAnswer) {
    findings.break("survives-leaving", describeAnswer(last), name);
  }
}

function isCut(answer: Parameters<typeof describeAnswer>[0]): boolean {
  return answer instanceof NoAnswer || answer.end === "cut";
}

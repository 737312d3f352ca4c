import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { ask, assertFinished, post, readSse, textOf, toInput } from "./check.ts";
import type { Ids, Received, SseReader, Target } from "./check.ts";

/** How many deltas a gated run sends. */
export const steps = 3;

/** All of its text. */
export const gatedText = "0 1 2 ";

/** A run that sends its next delta when the one before was received: one that is held back never ends. */
export interface GatedRun {
  readonly input: Record<string, unknown>;
  /** Lets it go on after a step. */
  open(step: number): Promise<void>;
}

export function createGatedRun(target: Target, ids: Partial<Ids> = {}): GatedRun {
  const key = randomUUID();
  return {
    input: toInput(`gate ${key} ${steps}`, ids),
    open: (step) => openGate(target, `${key}/${step}`),
  };
}

export async function openGate(target: Target, key: string): Promise<void> {
  await ask(target, `open ${key}`);
}

/** Resolves when a reader has received a step. */
export async function receive(reader: SseReader, step: number): Promise<void> {
  await reader.until(({ events }) => textOf(events).includes(`${step} `));
}

/** Reads a gated run to its end, opening each gate when its delta has arrived. */
export async function readGated(run: GatedRun, reader: SseReader): Promise<Received[]> {
  for (let step = 0; step < steps; step++) {
    await receive(reader, step);
    await run.open(step);
  }
  const events = await reader.readToEnd();
  assertFinished(events);
  return events;
}

/** Starts a gated run, and reads it. */
export async function runGated(target: Target, path = "/agui", ids?: Partial<Ids>): Promise<void> {
  const run = createGatedRun(target, ids);
  const events = await readGated(run, readSse(await post(target, path, run.input)));
  assert.equal(textOf(events), gatedText);
}

/** Whether text has arrived. */
export function hasText({ events }: { events: readonly Received[] }): boolean {
  return textOf(events) !== "";
}

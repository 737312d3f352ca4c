import { EventType } from "@ag-ui/core";
import type { EmitOptions, EmitWriter } from "./emit-writer.ts";
import { nameCall } from "../calls/late-calls.ts";
import { describeValue } from "../../base/options.ts";
import type { Awaitable } from "../../contract/agent.ts";
import type { Emit } from "../../contract/context.ts";
import { describeError, isHalted } from "../../contract/errors.ts";

/** `emit.step`. */
export function emitStep<T>(
  writer: EmitWriter,
  stepName: string,
  body: () => Awaitable<T>,
): Promise<T> {
  const call = nameCall("emit.step", stepName);
  const { calls } = writer;
  if (calls.isLate()) return calls.suspend(call);
  assertBody("step", body);
  return calls.begin(call, step(writer, stepName, body), "bracket");
}

/** A subagent: its name, what it does with its `emit`, and what else is known of it. */
interface Subagent<T> {
  readonly name: string;
  readonly body: (emit: Emit) => Awaitable<T>;
  readonly about: Parameters<Emit["subagent"]>[2];
}

/** `emit.subagent`. `toEmit` makes the `emit` of the subagent. */
export function emitSubagent<T>(
  writer: EmitWriter,
  subagent: Subagent<T>,
  toEmit: (subagentRunId: string) => Emit,
): Promise<T> {
  const call = nameCall("emit.subagent", subagent.name);
  const { calls } = writer;
  if (calls.isLate()) return calls.suspend(call);
  assertBody("subagent", subagent.body);
  return calls.begin(call, runSubagent(writer, subagent, toEmit), "bracket");
}

async function step<T>(writer: EmitWriter, stepName: string, body: () => Awaitable<T>): Promise<T> {
  // Not awaited when there is nothing to wait for, so that a synchronous body keeps its place.
  const pace = writer.send({ type: EventType.STEP_STARTED, stepName }, "emit.step");
  if (pace) await pace;
  const finished = { type: EventType.STEP_FINISHED, stepName };
  return finishWith(body, () => writer.send(finished, "emit.step"));
}

async function runSubagent<T>(
  writer: EmitWriter,
  { name, body, about = {} }: Subagent<T>,
  toEmit: (subagentRunId: string) => Emit,
): Promise<T> {
  const { options, subagentRunId: parentId } = writer;
  const id = writer.newId();
  const parent = parentId === undefined ? {} : { parentSubagentRunId: parentId };
  const self = { subagentRunId: id };
  const push = (event: object): void | Promise<void> => options.push(event, "emit.subagent");
  const pace = push({
    type: EventType.SUBAGENT_STARTED,
    ...self,
    name,
    ...parent,
    ...withoutUndefined(about),
  });
  try {
    if (pace) await pace;
    const result = await body(toEmit(id));
    await push({ type: EventType.SUBAGENT_FINISHED, ...self, ...suspension(id, options) });
    return result;
  } catch (error) {
    if (isHalted(error)) {
      const suspended = { outcome: { type: "suspended" }, ...suspension(id, options) };
      await push({ type: EventType.SUBAGENT_FINISHED, ...self, ...suspended });
      throw error;
    }
    const fault = describeError(error, options.debug ?? false);
    await push({ type: EventType.SUBAGENT_ERROR, ...self, ...fault });
    throw error;
  }
}

function suspension(id: string, { ending }: EmitOptions): object {
  const { interrupts } = ending;
  const asked = interrupts.filter((interrupt) => interrupt.subagentRunId === id);
  const interruptIds = asked.map((interrupt) => interrupt.id);
  return asked.length > 0 ? { outcome: { type: "suspended", interruptIds } } : {};
}

// Thrown, not rejected: who forgot the body has most likely forgotten to await, too.
function assertBody(method: string, body: unknown): void {
  if (typeof body === "function") return;
  throw new TypeError(
    `emit.${method}(name, body) wraps body in events; body must be a function, ` +
      `not ${describeValue(body)}. Try await emit.${method}("name", async () => {}).`,
  );
}

function withoutUndefined(value: object): object {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined));
}

/** Does something when a body is over, whether it returns or throws. */
export async function finishWith<T>(
  body: () => Awaitable<T>,
  finish: () => void | Promise<void>,
): Promise<T> {
  try {
    return await body();
  } finally {
    await finish();
  }
}

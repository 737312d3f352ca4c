import { AbstractAgent } from "@ag-ui/client";
import type { AgentFunction, AgentLike } from "@holodeck/agui-core";
import { Observable } from "rxjs";
import { deferred } from "./_helpers.ts";

/** What an agent does: it says these values, and then ends in one of three ways. */
export interface Plan {
  readonly values: readonly unknown[];
  readonly end: "return" | "throw" | "hang";
}

export interface PlannedAgent {
  readonly agent: AgentLike;
  /** Resolves once the agent says nothing more and does not end either. */
  readonly hangs: Promise<void>;
}

type Kind = (plan: Plan, hang: () => Promise<never>) => AgentLike;

class Broken extends Error {
  override readonly message = "secret of the agent";
}

/** Every kind of agent there is, each following a plan. */
const kinds: Record<string, Kind> = {
  "an async generator": ({ values, end }, hang) =>
    async function* () {
      yield* values as never[];
      if (end === "throw") throw new Broken();
      if (end === "hang") await hang();
    },
  "a generator": ({ values, end }, hang) =>
    function* () {
      yield* values as never[];
      if (end === "throw") throw new Broken();
      if (end !== "hang") return;
      void hang();
      // A generator cannot wait, but it can go on without saying anything.
      for (;;) yield "";
    },
  "an Observable that emits at once": ({ values, end }, hang) =>
    (() =>
      new Observable<unknown>((subscriber) => {
        for (const value of values) subscriber.next(value);
        if (end === "throw") subscriber.error(new Broken());
        else if (end === "hang") void hang();
        else subscriber.complete();
      })) as AgentFunction,
  "an Observable that emits over time": ({ values, end }, hang) =>
    (() =>
      new Observable<unknown>((subscriber) => {
        const speak = async (): Promise<void> => {
          for (const [index, value] of values.entries()) {
            await (index % 5 === 4 ? new Promise(setImmediate) : Promise.resolve());
            subscriber.next(value);
          }
          if (end === "throw") subscriber.error(new Broken());
          else if (end === "hang") await hang();
          else subscriber.complete();
        };
        void speak();
      })) as AgentFunction,
  "an Observable that throws while subscribed to": ({ values, end }, hang) =>
    (() =>
      new Observable<unknown>((subscriber) => {
        for (const value of values) subscriber.next(value);
        if (end === "throw") throw new Broken();
        if (end === "hang") return void hang();
        subscriber.complete();
      })) as AgentFunction,
  "a promise with context.emit":
    ({ values, end }, hang) =>
    async (_input, { emit }) => {
      for (const [index, value] of values.entries()) {
        if (index % 3 === 2) await Promise.resolve();
        await emit.event(value as never);
      }
      if (end === "throw") throw new Broken();
      if (end === "hang") await hang();
    },
  "a promise of an async generator": ({ values, end }, hang) =>
    (async () => {
      async function* speak(): AsyncGenerator {
        yield* values;
        if (end === "throw") throw new Broken();
        if (end === "hang") await hang();
      }
      return speak();
    }) as AgentFunction,
  "an AbstractAgent": (plan, hang) => {
    const source = kinds["an Observable that emits at once"]!(plan, hang) as () => never;
    class Official extends AbstractAgent {
      run(): ReturnType<AbstractAgent["run"]> {
        return source();
      }
    }
    return new Official();
  },
};

export const agentKinds: readonly string[] = Object.keys(kinds);

/** An agent of that kind that follows the plan. */
export function plannedAgent(kind: string, plan: Plan): PlannedAgent {
  const hanging = deferred();
  const hang = (): Promise<never> => {
    hanging.resolve();
    return new Promise<never>(() => {});
  };
  return { agent: kinds[kind]!(plan, hang), hangs: hanging.promise };
}

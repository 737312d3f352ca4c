import type { BaseEvent } from "@ag-ui/core";
import { runInput } from "@holodeck/agui-testing";
import { describe, expect, test } from "vitest";
import { compose, EventType, mapEvents } from "../src/index.ts";
import { chain, createRunContext } from "../src/internal.ts";
import type { EventMapper, Middleware } from "../src/index.ts";

const input = runInput();

const agent = async function* (): AsyncGenerator<string> {
  yield "a";
  yield "b";
};

const custom = (name: string): BaseEvent => ({ type: EventType.CUSTOM, name, value: 0 });
const isDelta = ({ type }: BaseEvent): boolean => type === EventType.TEXT_MESSAGE_CONTENT;

/** Passes everything on, and is no mapper: what stands on its sides cannot be put together. */
const wall: Middleware = (given, context, next) => next(given, context);

interface Heard {
  names: unknown[];
  error: unknown;
}

function run(...middleware: Middleware[]): Promise<Heard> {
  const names: unknown[] = [];
  return new Promise((resolve) => {
    compose(
      agent,
      ...middleware,
    )(input).subscribe({
      next: (event) => names.push(event.name ?? event.delta ?? event.type),
      error: (error: unknown) => resolve({ names, error }),
      complete: () => resolve({ names, error: undefined }),
    });
  });
}

/** The same mappers, side by side and each for itself. */
async function both(...mappers: EventMapper[]): Promise<Heard> {
  const layers = mappers.map((mapper) => mapEvents(mapper));
  const together = await run(...layers);
  const apart = await run(...layers.flatMap((layer) => [layer, wall]));
  expect(together).toEqual(apart);
  return together;
}

describe("mappers that stand together", () => {
  test("the innermost receives an event first", async () => {
    const { names } = await both(
      (event) => (isDelta(event) ? { ...event, delta: `${event.delta as string}1` } : event),
      (event) => (isDelta(event) ? { ...event, delta: `${event.delta as string}2` } : event),
    );
    expect(names).toContain("a21");
    expect(names).toContain("b21");
  });

  test("each of several events passes the outer ones, and none of what was dropped", async () => {
    const heard: string[] = [];
    const { names } = await both(
      (event) => {
        if (event.type === EventType.CUSTOM) heard.push(event.name as string);
        return event.name === "y" ? null : event;
      },
      (event) => (isDelta(event) ? [custom("x"), custom("y"), event] : event),
      (event) => (event.type === EventType.TEXT_MESSAGE_START ? undefined : event),
    );
    expect(names).toEqual(["RUN_STARTED", "x", "a", "x", "b", "TEXT_MESSAGE_END", "RUN_FINISHED"]);
    expect(heard).toEqual(["x", "y", "x", "y", "x", "y", "x", "y"]);
  });

  test("one that throws in the middle of several ends the run there", async () => {
    const heard: unknown[] = [];
    const { names, error } = await both(
      (event) => {
        heard.push(event.name);
        if (event.name === "y") throw new Error("no y");
        return event;
      },
      (event) => (isDelta(event) ? [custom("x"), custom("y"), custom("z")] : event),
    );
    expect(error).toEqual(new Error("no y"));
    expect(names).toEqual(["RUN_STARTED", "TEXT_MESSAGE_START", "x"]);
    expect(heard).not.toContain("z");
  });

  test("none is called after one of them made the subscriber leave", async () => {
    const asked: string[] = [];
    let leave = (): void => {};
    const layers = [
      mapEvents((event) => {
        if (isDelta(event)) asked.push("outer");
        return event;
      }),
      mapEvents((event) => {
        if (isDelta(event)) {
          asked.push("inner");
          leave();
        }
        return event;
      }),
    ];
    await new Promise<void>((resolve) => {
      const subscription = compose(agent, ...layers)(input).subscribe();
      subscription.add(() => resolve());
      leave = () => subscription.unsubscribe();
    });
    expect(asked).toEqual(["inner"]);
  });

  test("they are made once per run, the outermost first, and none behind one that throws", async () => {
    const made: string[] = [];
    const named = (name: string): Middleware =>
      mapEvents.perRun(() => {
        made.push(name);
        if (name === "broken") throw new Error("broken");
        return (event) => event;
      });
    const layers = [named("outer"), wall, named("middle"), named("inner")];
    await run(...layers);
    await run(...layers);
    expect(made).toEqual(["outer", "middle", "inner", "outer", "middle", "inner"]);
    made.length = 0;
    const { error } = await run(named("outer"), named("broken"), named("inner"));
    expect(error).toEqual(new Error("broken"));
    expect(made).toEqual(["outer", "broken"]);
  });

  test("nothing is made before a subscriber comes", () => {
    let made = 0;
    const counting = mapEvents.perRun(() => {
      made++;
      return (event) => event;
    });
    const inner = compose(agent);
    const wrapped = chain((given, context) => inner(given, context), [counting, counting]);
    const events = wrapped(input, createRunContext({ threadId: "thread-1", runId: "run-1" }));
    expect(made).toBe(0);
    events.subscribe().unsubscribe();
    expect(made).toBe(2);
  });
});

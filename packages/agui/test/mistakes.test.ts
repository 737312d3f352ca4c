import { describe, expect, test } from "vitest";
import { agui, createAgentHandler, logging, memorySessions, toolFilter } from "../src/index.ts";
import { eventsOf, memoryLogger, post } from "./_helpers.ts";

const hello = async function* (): AsyncGenerator<string> {
  yield "Hello";
};
const run = async (): Promise<string> => "Hello";
class Mine {
  run = hello;
}

function messageOf(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    expect(error).toBeInstanceOf(TypeError);
    return (error as TypeError).message;
  }
  return "nothing was thrown";
}

describe("an agent that is none", () => {
  test.for<[string, unknown, string]>([
    ["nothing", undefined, "not undefined."],
    ["an array", [hello], "not an array."],
    ["a string", "Hello", 'not "Hello".'],
    ["what a generator returned", hello(), "not an async generator. That is what calling"],
    ["what an async function returned", run(), "not a promise. That is what calling"],
    [
      "an Observable",
      new (class {
        subscribe() {}
      })(),
      "not an Observable. That is what calling",
    ],
    ["a class", Mine, "not a class Mine. Pass an instance, created with new."],
    ["a Map", new Map([["a", hello]]), "not an iterable."],
  ])("is refused when it is %s", ([, agent, words]) => {
    const message = messageOf(() => createAgentHandler(agent as never));
    expect(message).toContain("An agent must be a function or an object with run(input), ");
    expect(message).toContain(words);
  });

  test.for<[string, unknown, string]>([
    ["a string", "Hello", 'not "Hello".'],
    ["what it returned", hello(), "Pass the function itself"],
    ["an entry with a misspelt name", { agnt: hello }, 'an object with the keys ["agnt"]'],
    ["an entry of something else", { agent: 3 }, "not 3."],
  ])("is named when a map has %s", ([, bad, words]) => {
    const message = messageOf(() => createAgentHandler({ good: hello, bad } as never));
    expect(message).toContain('Agent "bad" must be a function');
    expect(message).toContain(words);
  });

  test("may still have the name of what a stream has", () => {
    expect(Object.keys(createAgentHandler({ subscribe: hello }).info().agents!)).toEqual([
      "subscribe",
    ]);
  });
});

describe("an option that is none", () => {
  test.for<[object | string | null, string]>([
    [
      { middlewares: [] },
      "middlewares is not an option of createAgentHandler. Did you mean middleware?",
    ],
    [{ protocol: "agui" }, "Did you mean protocols?"],
    [{ authentcate: run }, "Did you mean authenticate?"],
    [{ basepath: "/api" }, "Did you mean basePath?"],
    [{ onDisconect: "abort" }, "Did you mean onDisconnect?"],
    [{ cors: true }, "cors is not an option of createAgentHandler. Expected one of: protocols, "],
    [{ limits: { bodySize: 1 } }, "limits.bodySize is not a limit. Did you mean bodyBytes?"],
    ["/api", 'The options of createAgentHandler must be an object, not "/api".'],
    [[], "not an array."],
    [null, "not null."],
  ])("is refused: %j", ([options, words]) => {
    expect(messageOf(() => createAgentHandler(hello, options as never))).toContain(words);
  });

  test.for<[string, () => unknown, string]>([
    ["agui", () => agui({ paths: "/x" } as never), "Did you mean path?"],
    ["memorySessions", () => memorySessions({ ttl: 5 } as never), "Did you mean ttlMs?"],
    ["memorySessions", () => memorySessions({ ttlMs: "5" as never }), 'above 0, not "5".'],
    ["logging", () => logging({ lvl: "info" } as never), "Did you mean level?"],
    [
      "logging",
      () => logging({ level: "warning" } as never),
      "Expected one of: debug, info, warn, error.",
    ],
    ["toolFilter", () => toolFilter({ denied: ["x"] } as never), "Did you mean deny?"],
    ["toolFilter", () => toolFilter(undefined as never), "must be an object, not undefined."],
  ])("is refused by %s", ([name, work, words]) => {
    const message = messageOf(work);
    expect(message).toContain(name);
    expect(message).toContain(words);
  });
});

describe("an option with a wrong value", () => {
  test.for<[object, string]>([
    [{ protocols: "agui" }, 'protocols must be an array, like [agui()], not "agui".'],
    [{ protocols: agui() }, "protocols must be an array"],
    [
      { protocols: [agui] },
      "protocols[0] must be an object with routes, like agui(), not a function.",
    ],
    [{ protocols: [] }, "protocols is empty"],
    [{ middleware: logging() }, "middleware must be an array, like [logging()]"],
    [
      { middleware: [{}] },
      "middleware[0] must be a function, or an object with authenticate, request, admit or run",
    ],
    [{ middleware: [{ run: true }] }, "middleware[0].run must be a function, not true."],
    [{ sessions: memorySessions }, "sessions must be an object with get, create, update"],
    [
      { authenticate: true },
      "authenticate must be a function (request) => ({ id }) or null, not true.",
    ],
    [{ authenticate: null }, "not null."],
    [{ defaultAgent: 1 }, "defaultAgent must be the id of an agent, not 1."],
    [{ logger: () => {} }, "logger must be an object with debug, info, warn, error"],
    [{ debug: "false" }, 'debug must be true or false, not "false".'],
    [{ strict: 1 }, "strict must be true or false, not 1."],
    [{ tools: [{ name: "x" }] }, "tools[0] must be an object with invoke"],
    [{ info: "shop" }, "info must be an object"],
    [{ limits: 5 }, "limits must be an object"],
    [{ heartbeatMs: "15s" }, 'heartbeatMs must be a number above 0, not "15s".'],
    [{ exposeSessionState: true }, "exposeSessionState must be a function"],
    [{ clock: Date }, "clock must be an object with now, setTimeout, clearTimeout"],
  ])("is refused: %o", ([options, words]) => {
    expect(messageOf(() => createAgentHandler(hello, options))).toContain(words);
  });

  test("is not what is left undefined", () => {
    const options = { authenticate: undefined, limits: { bodyBytes: undefined } };
    expect(() => createAgentHandler(hello, options as never)).not.toThrow();
  });

  test.for([["ann"], [true], [{}], [{ id: "" }], [{ id: 5 }]])(
    "is reported when authenticate returns %j, and the request is refused",
    async ([principal]) => {
      const logger = memoryLogger();
      const { fetch } = createAgentHandler(hello, {
        logger,
        authenticate: () => principal as never,
      });
      expect((await fetch(post({ messages: [] }))).status).toBe(500);
      expect(String(logger.records.at(-1)?.error)).toContain(
        "authenticate must return { id: string } or null, not ",
      );
    },
  );

  test.for<[string, unknown, string]>([
    ["makes another", () => logging(), 'an object with the keys ["name","request","run","mount"]'],
    ["is async", async () => {}, "a promise"],
    ["returns nothing", () => {}, "undefined"],
  ])("is reported when a middleware %s", async ([, middleware, words]) => {
    const logger = memoryLogger();
    const handler = createAgentHandler(hello, {
      logger,
      debug: true,
      middleware: [middleware as never],
    });
    const events = await eventsOf(await handler.fetch(post({ messages: [] })));
    expect(events.at(-1)).toMatchObject({ type: "RUN_ERROR" });
    expect(events.at(-1)!.message).toContain(`must return an Observable`);
    expect(events.at(-1)!.message).toContain(words);
  });
});

describe("an agent that yields what is no event", () => {
  test.for<[unknown, string]>([
    [5, "not-an-event, 5 instead of a string or an event with a type"],
    [undefined, "not-an-event, undefined instead of"],
    [{ content: "Hello" }, 'not-an-event, an object with the keys ["content"] instead of'],
    [
      { type: "text", text: "Hello" },
      "unknown-type, text, which AG-UI does not have; for text yield",
    ],
    [{ type: "custom" }, "unknown-type, custom, which AG-UI does not have; it has CUSTOM"],
  ])("is reported in the log: %j", async ([value, words]) => {
    const logger = memoryLogger();
    const agent = async function* (): AsyncGenerator {
      yield value;
    };
    const { fetch } = createAgentHandler(agent as never, { logger });
    await eventsOf(await fetch(post({ messages: [] })));
    const [record] = logger.records.filter(({ level }) => level === "warn");
    expect(record?.first).toContain(words);
  });

  test.for(["step", "subagent"] as const)(
    "fails alone when emit.%s lacks its body",
    async (method) => {
      const { fetch } = createAgentHandler(
        async (_input, { emit }) => {
          void emit[method]("think", undefined as never);
        },
        { logger: memoryLogger(), debug: true },
      );
      const events = await eventsOf(await fetch(post({ messages: [] })));
      expect(events.at(-1)).toMatchObject({ type: "RUN_ERROR" });
      expect(events.at(-1)!.message).toContain(`Try await emit.${method}("name", async () => {}).`);
    },
  );
});

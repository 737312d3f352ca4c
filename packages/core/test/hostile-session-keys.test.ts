import { describe, expect, test } from "vitest";
import type { RunContext } from "../src/index.ts";
import { setup } from "./_hostile-kit.ts";

describe("session keys", () => {
  test("are only what was put there", async () => {
    let context!: RunContext;
    const { run } = setup(
      async (_input, given) => {
        context = given;
        given.session.set("__proto__", { polluted: true });
      },
      { init: { context: { threadId: "t", runId: "r", metadata: { known: 1 } } } },
    );
    let metadata: object = {};
    await run.collect();
    metadata = context.session.metadata;
    expect(context.session.get("known")).toBe(1);
    expect(context.session.get("constructor")).toBeUndefined();
    expect(context.session.get("polluted")).toBeUndefined();
    expect(context.session.get("__proto__")).toEqual({ polluted: true });
    expect(Object.keys(metadata)).toEqual(["known", "__proto__"]);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });
});

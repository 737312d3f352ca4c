// Patches of the state that an agent sends: they apply or end the run, in order.
import { createAgentHandler } from "@holodeck/agui";
import { EventType, silentLogger } from "@holodeck/agui-core";
import { createHttpFeed, encodeCase } from "../http-case.ts";
import { hostileTexts, hostileValue, mutateJson } from "../mutate.ts";
import type { Random } from "../random.ts";
import type { Target } from "../target.ts";

interface Patching {
  readonly document: unknown;
  readonly patches: readonly unknown[];
}

const ops = ["add", "remove", "replace", "move", "copy", "test", "spam"];
const keys = ["a", "b", "0", "1", "-", "list", "~0", "~1", "~2", "01", "__proto__"];

function toPointer(random: Random): unknown {
  if (random.chance(0.05)) return hostileValue(random);
  if (random.chance(0.05)) return random.pick(hostileTexts);
  return Array.from({ length: random.below(4) }, () => `/${random.pick(keys)}`).join("");
}

function toPatch(random: Random): unknown {
  return Array.from({ length: random.below(6) }, () => ({
    op: random.pick(ops),
    path: toPointer(random),
    ...(random.chance(0.5) ? { from: toPointer(random) } : {}),
    ...(random.chance(0.7) ? { value: hostileValue(random) } : {}),
  }));
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

export const patches: Target = {
  name: "patches",
  extension: "json",
  async open() {
    const handler = createAgentHandler(
      async (input, { emit }) => {
        const { document, patches: all } = input.forwardedProps as Patching;
        await emit.event({ type: EventType.STATE_SNAPSHOT, snapshot: document });
        for (const delta of all) {
          await emit.event({ type: EventType.STATE_DELTA, delta: delta as never });
        }
      },
      { logger: silentLogger, limits: { memoryBytes: 64 << 20 } },
    );
    const feed = await createHttpFeed(handler);
    return {
      generate(random, corpus) {
        const known = JSON.parse(decoder.decode(random.pick(corpus))) as Patching;
        const { document } = known;
        const made = random.chance(0.4)
          ? (mutateJson(known, random) as Patching)
          : {
              document,
              patches: Array.from({ length: 1 + random.below(4) }, () => toPatch(random)),
            };
        return encoder.encode(`${JSON.stringify(made)}\n`);
      },
      async feed(input) {
        const given = JSON.parse(decoder.decode(input)) as Partial<Patching> | null;
        const { document = {}, patches: all } = given ?? {};
        const forwardedProps = { document, patches: Array.isArray(all) ? all : [all] };
        const body = JSON.stringify({ protocolVersion: "1.0", messages: [], forwardedProps });
        const headers = { "content-type": "application/json" };
        const faults = await feed(
          encodeCase({ operation: "POST /agui", path: "/agui", headers, body }),
        );
        const isPolluted = Object.keys(Object.prototype).length > 0;
        return isPolluted ? [...faults, "the prototype of all objects has a new key"] : faults;
      },
      close: () => handler.close({ timeoutMs: 0 }),
    };
  },
};

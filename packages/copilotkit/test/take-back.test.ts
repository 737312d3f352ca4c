import { describe, expect, test } from "vitest";
import { sentBack } from "../../core/test/_sent-back.ts";
import type { SentBack } from "../../core/test/_sent-back.ts";
import { clients, connectClient, prepareClients, textsOf } from "./_client.ts";
import { host } from "./_host.ts";

prepareClients();

/** Sends the values first, and an answer in every later turn. */
function firstly({ values }: SentBack): () => AsyncGenerator<string> {
  let turns = 0;
  return async function* () {
    if (turns++ === 0) yield* values() as Iterable<string>;
    else yield `answer ${turns}`;
  };
}

describe.for(clients)("CopilotKit $version over $transport", ({ module, transport }) => {
  test.for(sentBack)("sends back $name, in a second and a third turn", async (row) => {
    const { url } = await host({ agent: firstly(row) }, row.limits ? { limits: row.limits } : {});
    const client = await connectClient(module, url, { transport });
    const agent = client.open("t-back");
    await client.say(agent, "one");
    if (row.error) expect(client.errors.at(-1)?.message).toContain(row.error.limit);
    client.errors.length = 0;
    for (const turn of [2, 3]) {
      await client.say(agent, "more");
      expect(client.errors).toEqual([]);
      expect(textsOf(agent).at(-1)).toBe(`assistant: answer ${turn}`);
    }
  });
});

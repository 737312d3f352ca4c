import { describe, expect, test } from "vitest";
import { createAgentHandler } from "../src/index.ts";
import { memoryLogger, post } from "./_helpers.ts";

const hello = async function* (): AsyncGenerator<string> {
  yield "Hello";
};

describe("who is asking", () => {
  test.for([{}, { id: "" }, { id: 7 }, true])(
    "is refused as %j, which identifies no user",
    async (principal) => {
      const logger = memoryLogger();
      const { fetch } = createAgentHandler(hello, {
        logger,
        authenticate: () => principal as never,
      });
      const response = await fetch(post({ messages: [] }));
      expect(response.status).toBe(500);
      expect(logger.records.map(({ level }) => level)).toContain("error");
    },
  );
});

import { expect, test } from "vitest";
import { packagesLoaded } from "../../../scripts/test-support/packages-loaded.ts";

test.for([
  ["rest", "../src/index.ts"],
  ["threads", "../src/threads/threads.ts"],
] as const)("%s does not load zod before a request", async ([name, file]) => {
  const entry = JSON.stringify(new URL(file, import.meta.url).href);
  const [loaded] = await packagesLoaded(
    `const protocol = (await import(${entry})).${name}();
     protocol.routes({ limits: { messageChars: 1, files: 1 } });`,
  );
  expect(loaded).toContain("@ag-ui/core");
  expect(loaded).not.toContain("zod");
});

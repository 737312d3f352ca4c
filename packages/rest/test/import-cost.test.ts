import { expect, test } from "vitest";
import { packagesLoaded } from "../../../scripts/test-support/packages-loaded.ts";

test.for([
  ["rest", "../src/index.ts"],
  ["threads", "../src/threads/threads.ts"],
] as const)("%s loads zod with warm(), and not before", async ([name, file]) => {
  const entry = JSON.stringify(new URL(file, import.meta.url).href);
  const [cold, warm] = await packagesLoaded(
    `const protocol = (await import(${entry})).${name}();
     protocol.routes({ limits: { messageChars: 1, files: 1 } });`,
    "await protocol.warm();",
  );
  expect(cold).toContain("@ag-ui/core");
  expect(cold).not.toContain("zod");
  expect(warm).toContain("zod");
});

import { describe, expect, test } from "vitest";
import { packagesLoaded } from "../../../scripts/test-support/packages-loaded.ts";

const entry = JSON.stringify(new URL("../src/index.ts", import.meta.url).href);
const heavy = ["zod", "@ag-ui/encoder", "@ag-ui/proto"];

describe("importing the package", () => {
  test("loads neither zod nor the binary codec", async () => {
    const [loaded] = await packagesLoaded(`
      const { agui, aguiSseEncoder } = await import(${entry});
      agui().routes({});
      aguiSseEncoder().encode({ from: 1, to: 1, at: 0, event: { type: "RAW", event: 1 } });`);
    expect(loaded).toContain("@ag-ui/core");
    for (const name of heavy) expect(loaded).not.toContain(name);
  });

  test("leaves zod to OpenAPI, and the codec to the first client of it", async () => {
    const [refused, described] = await packagesLoaded(
      `const { agui, decodeRunInput } = await import(${entry});
       await decodeRunInput({ tools: [{}] }).catch(() => {});`,
      `await agui().routes({})[0].operation();`,
    );
    expect(refused).not.toContain("zod");
    expect(described).toContain("zod");
    expect(described).not.toContain("@ag-ui/proto");
    const [binary] = await packagesLoaded(`
      const { loadProtoEncoder } = await import(${entry});
      await loadProtoEncoder();`);
    for (const name of heavy) expect(binary).toContain(name);
  });
});

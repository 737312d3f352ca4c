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

  test("leaves zod to the first wrong input, and the codec to the first client of it", async () => {
    const [refused] = await packagesLoaded(`
      const { decodeRunInput } = await import(${entry});
      await decodeRunInput({});`);
    expect(refused).toContain("zod");
    expect(refused).not.toContain("@ag-ui/proto");
    const [binary] = await packagesLoaded(`
      const { loadProtoEncoder } = await import(${entry});
      await loadProtoEncoder();`);
    for (const name of heavy) expect(binary).toContain(name);
  });
});

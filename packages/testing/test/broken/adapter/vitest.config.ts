import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import type { ViteUserConfig } from "vitest/config";

const resolve = { conditions: ["@holodeck/source", "node", "module"] };

const config: ViteUserConfig = defineConfig({
  resolve,
  ssr: { resolve },
  root: fileURLToPath(new URL(".", import.meta.url)),
  test: { include: ["*.suite.ts"], maxWorkers: 1, testTimeout: 30_000, hookTimeout: 60_000 },
});

export default config;

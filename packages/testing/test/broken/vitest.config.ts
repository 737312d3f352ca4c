import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import type { ViteUserConfig } from "vitest/config";

const resolve = { conditions: ["@holodeck/source", "node", "module"] };

const config: ViteUserConfig = defineConfig({
  resolve,
  ssr: { resolve },
  root: fileURLToPath(new URL(".", import.meta.url)),
  // What is broken fails at once; a busy machine must not look broken.
  test: { include: ["*.suite.ts"], maxWorkers: 1, testTimeout: 60_000, hookTimeout: 60_000 },
});

export default config;

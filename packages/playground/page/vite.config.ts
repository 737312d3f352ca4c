import { defineConfig } from "vite";
import type { Plugin } from "vite";

// The codec of protobuf includes zod, which tests whether it may create functions from text. The page's
// policy forbids it, and a browser reports the attempt. With this setting, zod does not try.
const zodWithoutFunctions: Plugin = {
  name: "zod-without-functions",
  transform: (code, id) =>
    id.endsWith("/zod/v4/core/core.js")
      ? code.replace("globalConfig = {}", "globalConfig = { jitless: true }")
      : undefined,
};

export default defineConfig({
  // Relative, so that the page works wherever it is mounted.
  base: "./",
  plugins: [zodWithoutFunctions],
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  resolve: { conditions: ["@holodeck/source", "module", "browser", "development|production"] },
  build: { outDir: "../dist/page", emptyOutDir: true, target: "es2022", assetsInlineLimit: 0 },
});

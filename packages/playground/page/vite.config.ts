import { defineConfig } from "vite";

export default defineConfig({
  // Relative, so that the page works wherever it is mounted.
  base: "./",
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  resolve: { conditions: ["@holodeck/source", "module", "browser", "development|production"] },
  build: { outDir: "../dist/page", emptyOutDir: true, target: "es2022", assetsInlineLimit: 0 },
});

import { defineConfig } from "tsup";

export default defineConfig({
  entry: ["src/index.ts"],
  format: ["esm"],
  target: "node20",
  dts: true,
  sourcemap: true,
  // `vite build page` follows and fills dist/page.
  clean: true,
  removeNodeProtocol: false,
});

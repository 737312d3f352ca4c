import { defineConfig } from "tsup";

// How every package is built. Those with more than one entry name them in their script `build`.
export default defineConfig({
  entry: ["src/index.ts"],
  format: ["esm"],
  target: "node20",
  dts: true,
  sourcemap: true,
  clean: true,
  // Deno and Workers know Node's modules only by their full name.
  removeNodeProtocol: false,
  // An optional dependency, which tsup would bundle.
  external: ["pg"],
});

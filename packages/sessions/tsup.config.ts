import { defineConfig } from "tsup";

export default defineConfig({
  entry: {
    index: "src/index.ts",
    "sqlite/index": "src/sqlite/index.ts",
    "redis/index": "src/redis/index.ts",
    "kit/index": "src/kit/index.ts",
  },
  format: ["esm"],
  target: "node20",
  dts: true,
  sourcemap: true,
  clean: true,
  // Deno and Workers know Node's modules only by their full name.
  removeNodeProtocol: false,
});

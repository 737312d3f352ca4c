import type { fastify } from "fastify";
import { createRequire } from "node:module";

/** Fastify 4 with the types of 5: what we use of both is the same. */
export const fastify4: typeof fastify = createRequire(import.meta.url)(
  "fastify4",
) as typeof fastify;

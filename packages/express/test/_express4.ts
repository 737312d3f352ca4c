import type express from "express";
import { createRequire } from "node:module";

/** Express 4 with the types of 5: it has none of its own here, and what we use of both is the same. */
export const express4: typeof express = createRequire(import.meta.url)(
  "express4",
) as typeof express;

import type { Protocol } from "@holodeck/agui-core";
import { openai } from "@holodeck/agui-openai";
import { agui, copilotkit, rest, threads, vercel } from "../src/index.ts";

/** The protocols that a handler has by default, and the one that a host adds. */
export const everyProtocol = (): Protocol[] => [
  agui(),
  copilotkit(),
  vercel(),
  rest(),
  threads(),
  openai(),
];

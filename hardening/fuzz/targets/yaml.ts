// `agent.yaml`: it loads, or every fault has its place in the file.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AgentFileError, loadYamlAgent } from "@holodeck/agui-cli";
import { mutateText } from "../mutate.ts";
import type { Target } from "../target.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder();
const env = { MODEL_KEY: "a-key", AGENT_TOKEN: "a-token" };

export const yaml: Target = {
  name: "yaml",
  extension: "yaml",
  async open() {
    const folder = mkdtempSync(join(tmpdir(), "agui-fuzz-yaml-"));
    const path = join(folder, "agent.yaml");
    return {
      generate: (random, corpus) =>
        encoder.encode(mutateText(decoder.decode(random.pick(corpus)), random)),
      async feed(input) {
        writeFileSync(path, input);
        try {
          await (await loadYamlAgent(path, env)).close?.();
          return [];
        } catch (error) {
          if (!(error instanceof AgentFileError)) throw error;
          const isPlaced = error.faults.every(({ line, column }) => line > 0 && column > 0);
          const isKept = Object.values(env).every((secret) => !error.message.includes(secret));
          return [
            ...(isPlaced && error.faults.length > 0 ? [] : ["a fault without a place"]),
            ...(isKept ? [] : ["a fault with a value of the environment in it"]),
          ];
        }
      },
      close: async () => rmSync(folder, { recursive: true, force: true }),
    };
  },
};

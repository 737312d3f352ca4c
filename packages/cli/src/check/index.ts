import type { Command } from "../io.ts";

export const check: Command = (_args, io) => {
  io.err.write("holodeck check is not there yet.\n");
  return Promise.resolve(1);
};

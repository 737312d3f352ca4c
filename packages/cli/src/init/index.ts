import type { Command } from "../io.ts";

export const init: Command = (_args, io) => {
  io.err.write("holodeck init is not there yet.\n");
  return Promise.resolve(1);
};

import type { Command } from "../io.ts";

export const serve: Command = (_args, io) => {
  io.err.write("holodeck serve is not there yet.\n");
  return Promise.resolve(1);
};

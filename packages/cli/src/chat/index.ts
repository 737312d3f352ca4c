import type { Command } from "../io.ts";

export const chat: Command = (_args, io) => {
  io.err.write("holodeck chat is not there yet.\n");
  return Promise.resolve(1);
};

import type { Command, Io } from "./shared/io.ts";

// Loaded when asked for: `chat` needs no server, `check` no model.
const commands: Record<string, { about: string; load: () => Promise<Command> }> = {
  serve: {
    about: "serve an agent file (or the demo agent) with a chat page",
    load: async () => (await import("./serve/index.ts")).serveCommand,
  },
  init: {
    about: "write a small working project",
    load: async () => (await import("./init/index.ts")).initCommand,
  },
  chat: {
    about: "chat with an AG-UI endpoint in the terminal",
    load: async () => (await import("./chat/index.ts")).chatCommand,
  },
  check: {
    about: "check any AG-UI server against the protocol",
    load: async () => (await import("./check/index.ts")).checkCommand,
  },
};

/** The whole command line: `holodeck <command> …`. */
export async function main(args: readonly string[], io: Io): Promise<number> {
  const [name, ...rest] = args;
  if (name === undefined || name === "help" || name === "--help" || name === "-h") {
    io.out.write(usage());
    return 0;
  }
  if (name === "--version" || name === "-v") {
    const { version } = await import("./version.ts");
    io.out.write(`${version}\n`);
    return 0;
  }
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (!command) {
    io.err.write(`Unknown command "${name}".\n\n${usage()}`);
    return 2;
  }
  const run = await command.load();
  return run(rest, io);
}

function usage(): string {
  const lines = Object.entries(commands).map(([name, { about }]) => `  ${name.padEnd(7)} ${about}`);
  return `Usage: holodeck <command> [options]\n\n${lines.join("\n")}\n\n\`holodeck <command> --help\` lists the options of each.\n`;
}

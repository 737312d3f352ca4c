const loader = new URL("typescript.mjs", import.meta.url).href;

/** Flags of Node for a process that runs our sources. */
export const sourceFlags: readonly string[] = [
  "--conditions=@holodeck/source",
  `--import=${loader}`,
];

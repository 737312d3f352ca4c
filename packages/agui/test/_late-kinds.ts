/** How the runs of a server end, by the word that its process is started with. */
export const lateEndings = [
  "stop",
  "disconnect",
  "timeout",
  "shutdown",
  "append",
  "close",
  "RUN_FINISHED",
] as const;
export type LateEnding = (typeof lateEndings)[number];

/** Where an agent's calls come from after the end. */
export const lateSources = [
  "setInterval",
  "EventEmitter",
  "a promise that settles later",
  "queueMicrotask",
  "an async listener",
] as const;
export type LateSource = (typeof lateSources)[number];

export const lateForms = ["async function", "async generator", "Observable"] as const;
export type LateForm = (typeof lateForms)[number];

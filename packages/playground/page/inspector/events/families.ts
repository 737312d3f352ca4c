/** Kinds of events that are shown and filtered together. */
export type Family =
  | "run"
  | "step"
  | "text"
  | "reasoning"
  | "tool"
  | "state"
  | "activity"
  | "other";

/** All of them, in the order in which they are shown. */
export const families: readonly Family[] = [
  "run",
  "step",
  "text",
  "reasoning",
  "tool",
  "state",
  "activity",
  "other",
];

/** What people call a family. */
export const familyNames: Readonly<Record<Family, string>> = {
  run: "Run",
  step: "Steps",
  text: "Text",
  reasoning: "Reasoning",
  tool: "Tools",
  state: "State",
  activity: "Activity",
  other: "Other",
};

const prefixes: readonly (readonly [string, Family])[] = [
  ["RUN_", "run"],
  ["STEP_", "step"],
  ["SUBAGENT_", "step"],
  ["TEXT_", "text"],
  ["REASONING_", "reasoning"],
  ["THINKING_", "reasoning"],
  ["TOOL_", "tool"],
  ["STATE_", "state"],
  ["MESSAGES_", "state"],
  ["ACTIVITY_", "activity"],
];

/** The family of an event's type; an unknown type is `other`. */
export function familyOf(type: string): Family {
  return prefixes.find(([prefix]) => type.startsWith(prefix))?.[1] ?? "other";
}

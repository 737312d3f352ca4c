/** The kind of failure in an `error` event. */
export type ThreadErrorType =
  | "validation"
  | "timeout"
  | "llm"
  | "tool"
  | "capacity"
  | "cancelled"
  | "internal";

const types: Readonly<Record<string, ThreadErrorType>> = {
  "invalid-request": "validation",
  "unknown-interrupt": "validation",
  "thread-not-found": "validation",
  timeout: "timeout",
  "agent-error": "llm",
  "incomplete-stream": "llm",
  "tool-error": "tool",
  "unknown-tool": "tool",
  "rate-limited": "capacity",
  "capacity-exceeded": "capacity",
  "thread-busy": "capacity",
  stopped: "cancelled",
  disconnected: "cancelled",
  replaced: "cancelled",
};

const lasting: ReadonlySet<string> = new Set(["not-ready", "shutting-down", "store-unavailable"]);

/** The kind of failure behind a code of ours; a third party's is the model's. */
export function toErrorType(code: string): ThreadErrorType {
  if (Object.hasOwn(types, code)) return types[code]!;
  return code.includes("/") ? "llm" : "internal";
}

/** Whether the same message may succeed when it is sent again. */
export function isRecoverable(code: string): boolean {
  const type = toErrorType(code);
  const isPassing = lasting.has(code) || code === "run-lost";
  return (
    isPassing || type === "timeout" || type === "capacity" || type === "llm" || type === "tool"
  );
}

/** What a framework may lack. Everything else is required of every adapter. */
export type AdapterFeature =
  /** Reasoning of the model. */
  | "reasoning"
  /** Arguments of a call in pieces, as the model produces them. */
  | "streamedArguments"
  /** Several calls in one answer. */
  | "parallelCalls"
  /** A tool that fails while the run continues. */
  | "failingTool"
  /** A question before a call, answered by the next request. */
  | "approval"
  /** An answer that another process receives. */
  | "approvalElsewhere"
  /** Tools that the client runs. */
  | "clientTools"
  /** A stop while a tool runs. */
  | "stopInTool"
  /** Token usage. */
  | "usage";

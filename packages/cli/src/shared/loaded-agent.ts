import type { AgentHandlerOptions, AgentLike, AgentMap } from "@holodeck/agui";

/** An agent file, whatever its language, ready for `createAgentHandler`. */
export interface AgentModule {
  readonly name: string;
  readonly description?: string;
  readonly agent: AgentLike | AgentMap;
  /** What the file asks for. Flags of the command line win. */
  readonly options: AgentHandlerOptions;
  /** Files it was made from: a change of one of them is a change of the agent. */
  readonly files: readonly string[];
  /** Ends what it holds open, such as MCP servers. */
  close?(): Promise<void>;
}

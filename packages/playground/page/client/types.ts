/** The address and agent of a request. */
export interface SendOptions {
  /** The address of the page's folder, with a slash at its end. */
  readonly base: string;
  readonly agentId: string;
  readonly signal?: AbortSignal;
}

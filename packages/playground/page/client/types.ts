/** Where and to whom a request goes. */
export interface SendOptions {
  /** The address of the page's folder, with a slash at its end. */
  readonly base: string;
  readonly agentId: string;
  readonly signal?: AbortSignal;
}

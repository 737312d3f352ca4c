/** The connection broke, and the run could not be taken up again. */
export class DroppedError extends Error {
  override readonly name = "DroppedError";
}

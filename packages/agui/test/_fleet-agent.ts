/** One run of the fleet: RUN_STARTED, its owner, START, the pieces, END and RUN_FINISHED. */
export const eventsPerRun = 200;
export const pieceLength = 6;
export const pieceCount: number = eventsPerRun - 5;

/** Begins the id of a run that goes on until it is stopped. */
export const endless = "endless-";
/** Begins the id of a run that says one word. */
export const brief = "brief-";

/** What a run says, from its id alone, in pieces of one length. */
export function pieceOf(runId: string, index: number): string {
  let hash = 2_166_136_261;
  for (const letter of `${runId}#${index}`) {
    hash = Math.imul(hash ^ letter.codePointAt(0)!, 16_777_619) >>> 0;
  }
  return `${hash
    .toString(36)
    .padStart(pieceLength - 1, "0")
    .slice(0, pieceLength - 1)} `;
}

export function textOf(runId: string): string {
  return Array.from({ length: pieceCount }, (_, index) => pieceOf(runId, index)).join("");
}

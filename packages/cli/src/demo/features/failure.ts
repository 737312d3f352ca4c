import type { Feature } from "../feature.ts";

/** Fails mid-answer. The error is in the server's log; the client receives a generic message. */
export const failure: Feature = {
  example: "Fail with an error",
  words: /\b(fail|error|crash|break)\b/i,
  async answer({ say, pause }) {
    await say("I try something that will not work. ");
    await pause(200);
    throw new Error("Could not log in to db.internal:5432 as admin.");
  },
};

import { playgroundFile } from "@holodeck/agui-playground";
import type { Io } from "../../shared/io.ts";

/** Whether there is a page to serve; in a checkout it may not have been built. */
export function hasPage({ err }: Pick<Io, "err">): boolean {
  try {
    return playgroundFile("/") !== undefined;
  } catch (error) {
    err.write(`${(error as Error).message}\n`);
    return false;
  }
}

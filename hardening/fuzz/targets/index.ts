import type { Target } from "../target.ts";
import { bodies } from "./bodies.ts";
import { fileTargets } from "./files.ts";
import { multipart } from "./multipart.ts";
import { patches } from "./patches.ts";
import { resume } from "./resume.ts";
import { yaml } from "./yaml.ts";

/** Everything that reads what others write. */
export const targets: readonly Target[] = [
  bodies,
  multipart,
  patches,
  resume,
  yaml,
  ...fileTargets,
];

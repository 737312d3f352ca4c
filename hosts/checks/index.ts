import type { Check } from "./check.ts";
import { clientChecks } from "./clients.ts";
import { controlChecks } from "./control.ts";
import { streamChecks } from "./streams.ts";

/** What every host is checked for. */
export const checks: readonly Check[] = [...clientChecks, ...controlChecks, ...streamChecks];

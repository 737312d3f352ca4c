import type { Logger } from "./types.ts";

/** Says nothing. */
export const silentLogger: Logger = { debug: noop, info: noop, warn: noop, error: noop };

function noop(): void {}

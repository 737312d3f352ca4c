export interface Absence {
  readonly file?: string;
  readonly suite: string;
  readonly missing: string;
}

export function closing(
  report: object | undefined,
  absences: readonly Absence[],
  exitCode: number,
): { lines: string[]; failed: number };

import type { Path, FileReport } from "./faults/report.ts";

export type Env = Readonly<Record<string, string | undefined>>;

/** The environment as a file may use it: what is not set is a fault of the file. */
export interface Environment {
  /** The variable's value; empty counts as not set. */
  get(name: string): string | undefined;
  /** The value of a variable that has to be there. */
  need(name: string, path: Path): string;
  /** The text with every `${NAME}` in it replaced. */
  expand(text: string, path: Path): string;
}

/** An environment that reports what is missing from it. */
export function createEnvironment(env: Env, report: FileReport): Environment {
  function get(name: string): string | undefined {
    const value = Object.hasOwn(env, name) ? env[name] : undefined;
    return value === undefined || value.trim() === "" ? undefined : value.trim();
  }

  function need(name: string, path: Path): string {
    const value = get(name);
    if (value === undefined) {
      report.add(path, `The environment variable ${name} is not set. Try: export ${name}=…`);
    }
    return value ?? "";
  }

  return {
    get,
    need,
    expand: (text, path) =>
      text.replaceAll(/\$\{([A-Za-z_]\w*)\}/g, (_, name: string) => need(name, path)),
  };
}

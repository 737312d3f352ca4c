import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { findOwnPackage } from "./own-package.ts";

export const templates = ["express", "hono"] as const;
export type Template = (typeof templates)[number];

const frameworks: Readonly<Record<Template, string>> = { express: "Express", hono: "Hono" };

/** The entries of a folder that should be empty. A repository without files is empty. */
export function filesInTheWay(folder: string): string[] {
  try {
    return readdirSync(folder)
      .filter((name) => name !== ".git")
      .sort();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}

/** Writes a project into an empty folder; the paths of its files. */
export function writeProject(folder: string, template: Template): string[] {
  const own = findOwnPackage();
  const values: Record<string, string> = {
    name: packageName(folder),
    version: own.version,
    framework: frameworks[template],
  };
  const written: string[] = [];
  for (const part of ["common", template]) {
    const source = join(own.folder, "templates", part);
    for (const path of listFiles(source)) {
      const target = targetOf(path);
      const text = readFileSync(join(source, path), "utf8");
      mkdirSync(dirname(join(folder, target)), { recursive: true });
      // `wx`: what came meanwhile stays.
      writeFileSync(join(folder, target), path.endsWith(".tmpl") ? fill(text, values) : text, {
        flag: "wx",
      });
      written.push(target);
    }
  }
  return written.sort();
}

function listFiles(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory()
      ? listFiles(join(folder, entry.name)).map((path) => join(entry.name, path))
      : [entry.name],
  );
}

// npm takes no `.gitignore` into a package, and would read a package.json inside of it.
function targetOf(path: string): string {
  return path.replace(/\.tmpl$/, "").replace(/^_/, ".");
}

function fill(text: string, values: Readonly<Record<string, string>>): string {
  return text.replaceAll(/\{\{(\w+)\}\}/g, (_, name: string) => values[name]!);
}

function packageName(folder: string): string {
  const name = basename(folder)
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]+/g, "-")
    .replaceAll(/^-+|-+$/g, "");
  return name || "my-agent";
}

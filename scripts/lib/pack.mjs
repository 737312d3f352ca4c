// Packs every published package as npm would get it: `workspace:` and `catalog:` resolved,
// `publishConfig` applied.
import { existsSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { findPnpm } from "./install.mjs";
import { run } from "./process.mjs";
import { publicPackages, root } from "./workspace.mjs";

const folder = join(root, "node_modules", ".holodeck", "tarballs");

/** Where the tarball of a package lies after `packAll()`. */
export function tarballOf(manifest) {
  const file = `${manifest.name.replace("@", "").replace("/", "-")}-${manifest.version}.tgz`;
  return join(folder, file);
}

/** Packs all packages; throws with the output of the one that could not be packed. */
export async function packAll() {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const pnpm = findPnpm();
  for (const { dir, manifest } of publicPackages()) {
    if (!existsSync(join(root, dir, "dist"))) {
      throw new Error(`${dir} has no dist: run "npm run build" first.`);
    }
    const packed = await run([...pnpm, "pack", "--pack-destination", folder], {
      cwd: join(root, dir),
    });
    if (packed.code !== 0 || !existsSync(tarballOf(manifest))) {
      throw new Error(`${dir} could not be packed.\n${packed.output}`);
    }
  }
}

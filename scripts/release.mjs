// `npm run release:version`: the next version of all packages, with their CHANGELOGs, from the changesets.
// `npm run release:publish [-- --dry-run]`: builds, packs and publishes them, then tags the commit. With `--dry-run`
// what `npm run check -- pack` has packed goes through `npm publish --dry-run`: no network, no tags.
import { install, requireNode } from "./lib/install.mjs";
import { run, runHere } from "./lib/process.mjs";
import { versionPackages } from "./lib/version-packages.mjs";
import { bin, publicPackages, root } from "./lib/workspace.mjs";

requireNode();
await install();
const { packAll, tarballOf } = await import("./lib/pack.mjs");
const [command, ...options] = process.argv.slice(2);
const isDry = options.includes("--dry-run");

if (command === "version") await version();
else if (command === "publish") await publish();
else fail("Usage: node scripts/release.mjs version | publish [--dry-run]");

async function version() {
  const { code, output } = await versionPackages(root);
  console.log(output);
  await must(code, "changeset version");
}

async function publish() {
  if (!isDry) {
    const built = await runHere([process.execPath, "scripts/check.mjs", "build"]);
    await must(built, "The build");
    await packAll();
    const sbom = await runHere([process.execPath, "scripts/sbom.mjs", "sbom.cdx.json"]);
    await must(sbom, "The list of dependencies");
  }
  let published = 0;
  for (const { manifest } of publicPackages()) {
    const { name, version: number } = manifest;
    // A publish that was interrupted goes on where it ended.
    if (!isDry && (await isPublished(`${name}@${number}`))) continue;
    const args = ["publish", tarballOf(manifest), "--access", "public"];
    const { code, output } = await run(["npm", ...args, ...(isDry ? ["--dry-run"] : [])]);
    await must(code, `${name}\n${output}`);
    published += 1;
    console.log(`${isDry ? "would publish" : "published"} ${name}@${number}`);
  }
  if (isDry) return console.log(`${published} packages can be published.`);
  // The action reads the tags from this output, and writes the notes.
  await must(await runHere([...bin("@changesets/cli"), "tag"]), "changeset tag");
}

async function isPublished(id) {
  const { code, output } = await run(["npm", "view", id, "version"]);
  return code === 0 && output.trim() !== "";
}

async function must(code, what) {
  if (code !== 0) fail(`${what} failed.`);
}

function fail(message) {
  console.error(message);
  process.exit(1);
}

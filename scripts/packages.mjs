// `npm run check:package`: publint and "are the types wrong" on every package, as packed.
import { pathToFileURL } from "node:url";
import { run } from "./lib/process.mjs";
import { bin, publicPackages } from "./lib/workspace.mjs";
import { packAll, tarballOf } from "./lib/pack.mjs";

/** Checks one package's tarball. */
export async function checkPackage(manifest) {
  const tarball = tarballOf(manifest);
  const results = [
    await run([...bin("publint"), "run", tarball, "--strict"]),
    await run([...bin("@arethetypeswrong/cli"), tarball, "--profile", "esm-only", "--no-emoji"]),
  ];
  return {
    code: results.every(({ code }) => code === 0) ? 0 : 1,
    output: results.map(({ output }) => output).join("\n"),
  };
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  await packAll();
  let failed = 0;
  for (const { manifest } of publicPackages()) {
    const { code, output } = await checkPackage(manifest);
    console.log(`${code === 0 ? "ok" : "FAIL"} ${manifest.name}`);
    if (code === 0) continue;
    failed += 1;
    console.log(output);
  }
  process.exit(failed === 0 ? 0 : 1);
}

// A separate PostgreSQL for the bench, with the durability that it has by default.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "./free-port.mjs";

/** Starts one, or reports why there is none. */
export async function startPostgres(report) {
  const programs = findPrograms();
  if (!programs) {
    report("NOT MEASURED: postgres. It needs PostgreSQL: apt-get install postgresql.");
    return undefined;
  }
  const folder = mkdtempSync(join(tmpdir(), "agui-bench-pg-"));
  const user = asServer();
  if (user.uid !== undefined) chownSync(folder, user.uid, user.gid);
  const data = join(folder, "data");
  const make = ["-D", data, "-A", "trust", "-U", "postgres", "-E", "UTF8", "--locale=C"];
  const made = spawnSync(join(programs, "initdb"), make, { cwd: folder, ...user });
  if (made.status !== 0) throw new Error(`initdb failed: ${String(made.stderr)}`);
  const port = await freePort();
  const flags = ["-D", data, "-p", String(port), "-k", folder, "-h", "127.0.0.1"];
  const server = spawn(join(programs, "postgres"), flags, {
    cwd: folder,
    ...user,
    stdio: ["ignore", "ignore", "pipe"],
  });
  const kill = () => server.kill("SIGQUIT");
  process.once("exit", kill);
  let output = "";
  for await (const chunk of server.stderr) {
    output += chunk;
    if (output.includes("ready to accept connections")) break;
  }
  return {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    async end() {
      const exited = once(server, "exit");
      process.off("exit", kill);
      kill();
      await exited;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function findPrograms() {
  if (process.env.POSTGRES_BIN) return process.env.POSTGRES_BIN;
  const versions = "/usr/lib/postgresql";
  const debian = existsSync(versions)
    ? readdirSync(versions)
        .toSorted((one, other) => Number(other) - Number(one))
        .map((version) => join(versions, version, "bin"))
    : [];
  const onPath = (process.env.PATH ?? "").split(":").filter(Boolean);
  return [...debian, ...onPath].find((at) => existsSync(join(at, "initdb")));
}

// It refuses to run as root.
function asServer() {
  if (process.getuid?.() !== 0) return {};
  const id = (flag) => {
    const { status, stdout } = spawnSync("id", [flag, "postgres"], { encoding: "utf8" });
    return status === 0 ? Number(stdout) : 65_534;
  };
  return { uid: id("-u"), gid: id("-g") };
}

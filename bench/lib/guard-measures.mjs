import { once } from "node:events";
import { startChild } from "./child.mjs";
import { countChunks } from "./count-chunks.mjs";
import { subjectUrl } from "./peers.mjs";
import { openSocket, writeRequest } from "./raw-http.mjs";
import { requests } from "./requests.mjs";

const work = { deltas: 200 };

/** How many writes a run of 200 deltas from an agent that never waits comes in. */
export async function writesOfRun() {
  const child = serve("ours");
  try {
    const { port } = await child.ready();
    const socket = await openSocket(port);
    let answer = "";
    socket.on("data", (chunk) => (answer += chunk.toString("latin1")));
    const request = { ...requests.agui, headers: { connection: "close" } };
    const closed = once(socket, "close");
    socket.write(writeRequest(request));
    await closed;
    return countChunks(answer);
  } finally {
    await child.end();
  }
}

/** CPU per delta of ours to raw. */
export async function cpuRatio(load) {
  const [raw, ours] = await cpuOf(load, [{ module: "raw" }, { module: "ours" }]);
  return ours / raw;
}

/** CPU per delta of a protocol to AG-UI of the same handler. */
export async function protocolRatio(load, request, env) {
  const [agui, other] = await cpuOf(load, [
    { module: "ours", env },
    { module: "ours", env, request },
  ]);
  return other / agui;
}

/** CPU of a run: the least of several turns each, since noise only adds. */
async function cpuOf(load, measured) {
  const subjects = measured.map(({ module, env, request = requests.agui }) => ({
    child: serve(module, env),
    request,
    cost: [],
  }));
  try {
    for (const subject of subjects) subject.port = (await subject.child.ready()).port;
    for (let round = -1; round < 6; round++) {
      for (const { child, port, request, cost } of subjects) {
        const before = await child.ask({});
        const runs = round < 0 ? 1_200 : 300;
        const task = { type: "drive", port, connections: 16, runs, maxMs: 4_000, request };
        const seen = await load.ask(task);
        const after = await child.ask({});
        if (round >= 0) cost.push((after.cpuUs - before.cpuUs) / seen.runs);
      }
    }
  } finally {
    await Promise.all(subjects.map(({ child }) => child.end()));
  }
  return subjects.map(({ cost }) => Math.min(...cost));
}

function serve(module, env = {}) {
  return startChild("serve.mjs", [subjectUrl(module)], {
    env: { BENCH_WORK: JSON.stringify(work), ...env },
  });
}

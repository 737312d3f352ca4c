// The runner of vitest that tries mutants: it runs a test file as it is and notes which test reaches which mutant, then
// runs those tests again for each mutant, until one fails. All in one process: the sources are loaded once, with their
// mutants behind switches (`instrument.mjs`).
import { appendFileSync, readFileSync } from "node:fs";
import { TestRunner, vi } from "vitest";
import { startTests } from "vitest/internal/browser";

const job = JSON.parse(readFileSync(process.env.MUTATE_JOB, "utf8"));
const report = (line) => appendFileSync(job.results, `${JSON.stringify(line)}\n`);

const quickMs = 250;

let active;
let onReach;
globalThis.isMutant = (id) => {
  onReach?.(id);
  return id === active;
};

// oxlint-disable-next-line import/no-default-export -- as vitest imports it
export default class MutantRunner extends TestRunner {
  #isTrying = false;
  #isCollecting = false;
  #test;
  #failure;
  // Of the first run: the tests that reach a mutant, those that are reached before any test, and how long tests take.
  #reaching = new Map();
  #static = new Set();
  #times = new Map();

  constructor(config) {
    super(config);
    onReach = (id) => this.#reach(id);
    const fail = (error) => (this.#failure ??= `an unhandled error: ${error?.message}`);
    process.on("unhandledRejection", fail);
    process.on("uncaughtException", fail);
  }

  onBeforeCollect() {
    this.#isCollecting = true;
  }

  onBeforeRunFiles() {
    this.#isCollecting = false;
  }

  async onBeforeRunTask(test) {
    if (this.#isTrying && this.#failure) test.mode = "skip";
    this.#test = test.id;
    await super.onBeforeRunTask(test);
  }

  onAfterRunTask(test) {
    super.onAfterRunTask(test);
    this.#test = undefined;
    const { state, errors, duration = 0 } = test.result ?? {};
    if (!this.#isTrying) this.#times.set(test.id, duration);
    if (state === "fail") this.#failure ??= `${test.name}: ${errors?.[0]?.message ?? ""}`;
  }

  async onAfterRunFiles(files) {
    super.onAfterRunFiles(files);
    if (this.#isTrying) return;
    const [{ filepath }] = files;
    onReach = undefined;
    if (this.#failure ?? failedSuite(files)) {
      return report({ broken: this.#failure ?? failedSuite(files) });
    }
    this.#isTrying = true;
    this.#silence();
    for (const id of job.mutants) await this.#try(id, filepath);
    report({ done: true });
  }

  #reach(id) {
    if (this.#isCollecting) this.#static.add(id);
    const tests = this.#reaching.get(id) ?? new Set();
    this.#reaching.set(id, tests.add(this.#test));
  }

  // What is tried is no result of the suite.
  #silence() {
    const ignore = async () => undefined;
    Object.assign(this, { onTaskUpdate: ignore, onCollected: ignore });
    this.onCollectStart = (file) => void (this.workerState.current = file);
  }

  async #try(id, filepath) {
    const tests = this.#testsOf(id);
    if (!tests) return report({ id, outcome: "unreached" });
    const times = tests.map((test) => this.#times.get(test) ?? 0);
    const total = times.reduce((sum, time) => sum + time, 0);
    this.config.testTimeout = 5_000 + 5 * Math.max(...times);
    this.config.hookTimeout = 60_000;
    this.config.expect.poll = { timeout: 3_000, interval: 25 };
    report({ id, pid: process.pid, workMs: 6_000 + 5 * total });
    const run = { filepath, tests, isStatic: this.#static.has(id) };
    const failure = await this.#runQuickFirst(id, run);
    if (failure === undefined) return report({ id, outcome: "survived" });
    // A machine that is busy must not look like a test that waits for ever.
    const isTimeout = /timed out|Matcher did not succeed in time/.test(failure);
    const isSure = !isTimeout || (await this.#run(undefined, run)) === undefined;
    report({ id, outcome: isSure ? "killed" : "unsure", by: failure.slice(0, 200) });
  }

  #testsOf(id) {
    const reaching = this.#reaching.get(id);
    if (!reaching) return undefined;
    // What hooks reach, or the loading of the file, every test may show.
    const isCommon = this.#static.has(id) || reaching.has(undefined);
    return isCommon ? [...this.#times.keys()] : [...reaching];
  }

  // Tests that wait for leases are tried on what the others do not notice.
  async #runQuickFirst(id, run) {
    const isQuick = (test) => (this.#times.get(test) ?? 0) < quickMs;
    const [quick, slow] = [run.tests.filter(isQuick), run.tests.filter((test) => !isQuick(test))];
    for (const tests of [quick, slow]) {
      const failure = tests.length > 0 ? await this.#run(id, { ...run, tests }) : undefined;
      if (failure !== undefined) return failure;
    }
    return undefined;
  }

  // The name of a test that fails with the mutant. Returns undefined when all pass.
  async #run(id, { filepath, tests, isStatic }) {
    active = id;
    this.#failure = undefined;
    if (isStatic) vi.resetModules();
    else this.#forget(filepath);
    const files = await startTests([{ filepath, testIds: tests }], this);
    const failure = this.#failure ?? failedSuite(files);
    active = undefined;
    if (isStatic) vi.resetModules();
    return failure;
  }

  #forget(filepath) {
    const { evaluatedModules } = this.workerState;
    for (const module of evaluatedModules.fileToModulesMap.get(filepath) ?? []) {
      evaluatedModules.invalidateModule(module);
    }
  }
}

function failedSuite(tasks) {
  for (const task of tasks) {
    if (task.result?.state === "fail" && task.type === "suite" && task.result.errors?.length) {
      return `${task.name}: ${task.result.errors[0].message}`;
    }
    const inner = task.tasks && failedSuite(task.tasks);
    if (inner) return inner;
  }
  return undefined;
}

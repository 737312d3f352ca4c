import { afterEach, describe } from "vitest";
import { testRunLogFaults } from "./faults/_run-log-faults.ts";
import { testRunLogAppending } from "./_run-log-appending.ts";
import { testRunLogClosing } from "./_run-log-closing.ts";
import { testRunLogOpening } from "./_run-log-opening.ts";
import { testRunLogOwning } from "./_run-log-owning.ts";
import { testRunLogReading } from "./_run-log-reading.ts";
import { createStoreBench, defineCases } from "./_store-bench.ts";
import type { CreateStore, TestStoreOptions } from "./_store-bench.ts";

/**
 * Proves that the run log of a store fulfils the contract of `RunLog`. `create` returns a store on
 * separate data at each call.
 *
 * @example
 * ```ts
 * testRunLog("my store", (setup) => myStore(setup), { second: (setup) => myStore(setup) });
 * ```
 */
export function testRunLog(
  name: string,
  create: CreateStore,
  options: TestStoreOptions = {},
): void {
  const bench = createStoreBench(create, options);
  const { define, finish } = defineCases(options, bench.play);

  describe(`run log: ${name}`, { timeout: 120_000 }, () => {
    afterEach(() => bench.closeAll());
    const kit = {
      bench,
      define,
      openLog: async (setup = {}) => (await bench.open(setup)).runs,
      openSecondLog: async () => (await bench.openSecond()).runs,
    };
    testRunLogOpening(kit);
    testRunLogAppending(kit);
    testRunLogReading(kit);
    testRunLogClosing(kit);
    testRunLogOwning(kit);
    testRunLogFaults(kit);
    finish();
  });
}

import { afterEach, describe } from "vitest";
import { testClockJumps } from "./faults/_clock-jumps.ts";
import { testSessionBlobs } from "./_session-blobs.ts";
import { testSessionBytes } from "./_session-bytes.ts";
import { testSessionClaims } from "./_session-claims.ts";
import { testSessionFaults } from "./faults/_session-faults.ts";
import { testSessionLeases } from "./_session-leases.ts";
import { testSessionLifetime } from "./_session-lifetime.ts";
import { testSessionPast } from "./_session-past.ts";
import { testSessionPruning } from "./_session-pruning.ts";
import { testSessionRecords } from "./_session-records.ts";
import { testSessionTimes } from "./_session-times.ts";
import { createStoreBench, defineCases } from "./_store-bench.ts";
import type { CreateStore, TestStoreOptions } from "./_store-bench.ts";

/**
 * Proves that a store fulfils the contract of `SessionStore`; `testRunLog` does the same for its run
 * log. `create` returns a store on separate data at each call.
 *
 * @example
 * ```ts
 * testSessionStore("my store", (setup) => myStore(setup), { second: (setup) => myStore(setup) });
 * ```
 */
export function testSessionStore(
  name: string,
  create: CreateStore,
  options: TestStoreOptions = {},
): void {
  const bench = createStoreBench(create, options);
  const { define, finish } = defineCases(options, bench.play);

  describe(`session store: ${name}`, { timeout: 120_000 }, () => {
    afterEach(() => bench.closeAll());
    testSessionRecords({ bench, define });
    testSessionTimes({ bench, define });
    testSessionPruning({ bench, define });
    testSessionBytes({ bench, define });
    testSessionPast({ bench, define });
    testSessionClaims({ bench, define });
    testSessionLeases({ bench, define });
    testSessionLifetime({ bench, define });
    testSessionFaults({ bench, define });
    testClockJumps({ bench, define });
    testSessionBlobs({ bench, define }, { hasBlobs: options.blobs !== false });
    finish();
  });
}

import { postgresSessions } from "@holodeck/agui-sessions/postgres";
import { startPostgres } from "../../../sessions/test/_postgres.ts";
import { storeKinds } from "../_shared-stores.ts";
import type { StoreKind } from "../_shared-stores.ts";

const postgres: StoreKind = {
  name: "PostgreSQL",
  async open(suite) {
    const server = await startPostgres(suite);
    if (!server) return undefined;
    const schema = await server.schema();
    // On a busy machine late is not away.
    const patient = { schema, commandMs: 20_000, leaseMs: 60_000 };
    const owner = postgresSessions({ client: await server.pg(), ...patient });
    const client = await server.postgresJs({ fetch_types: false });
    const other = postgresSessions({ client, ...patient });
    return {
      owner,
      other,
      async close() {
        // They listen on connections that the server's clients wait for.
        await Promise.all([owner.close(), other.close()]);
        await server.stop();
      },
    };
  },
};

/** Every store there is. */
export const allStores: readonly StoreKind[] = storeKinds.some(({ name }) => name === postgres.name)
  ? storeKinds
  : [...storeKinds, postgres];

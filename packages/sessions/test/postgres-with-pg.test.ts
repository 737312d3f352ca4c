import { startPostgres } from "./_postgres.ts";
import { testPostgresSessions } from "./_postgres-suites.ts";

const name = "postgresSessions with pg";
const server = await startPostgres(`${name}: testSessionStore and testRunLog`);
testPostgresSessions(name, server && { server, connect: () => server.pg({ max: 20 }) });

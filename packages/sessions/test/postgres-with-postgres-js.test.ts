import { startPostgres } from "./_postgres.ts";
import { testPostgresSessions } from "./_postgres-suites.ts";

const name = "postgresSessions with postgres.js";
const server = await startPostgres(`${name}: testSessionStore and testRunLog`);
testPostgresSessions(name, server && { server, connect: () => server.postgresJs({ max: 20 }) });

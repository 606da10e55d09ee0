import { describeIf, whyNoPostgres15 } from "./testing/conditions.ts";
import { databaseSuite } from "./testing/database-suite.ts";
import { startPostgres15 } from "./testing/servers.ts";

describeIf(whyNoPostgres15(), "on PostgreSQL 15", () => {
  databaseSuite(startPostgres15);
});

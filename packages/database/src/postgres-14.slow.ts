import { describeIf } from "./testing/conditions.ts";
import { databaseSuite } from "./testing/database-suite.ts";
import { startPostgres14, whyNoPostgres14 } from "./testing/postgres-14.ts";

describeIf(whyNoPostgres14(), "on PostgreSQL 14, the oldest supported version", () => {
  databaseSuite(startPostgres14);
});

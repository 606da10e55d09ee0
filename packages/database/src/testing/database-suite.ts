import { afterAll, afterEach, beforeAll } from "vitest";
import type { TestServer } from "./servers.ts";
import { changeTests } from "./suite/change-tests.ts";
import { connectionTests } from "./suite/connection-tests.ts";
import { migrationTests } from "./suite/migration-tests.ts";
import { nameSearchTests, uniqueNameTests } from "./suite/name-tests.ts";
import { problemTests } from "./suite/problem-tests.ts";
import { DatabaseSuite } from "./suite/suite.ts";
import { valueTests } from "./suite/value-tests.ts";

export function databaseSuite(startServer: () => Promise<TestServer>): void {
  const suite = new DatabaseSuite(startServer);
  beforeAll(() => suite.start());
  afterEach(() => suite.closeDatabases());
  afterAll(() => suite.stop());
  migrationTests(suite);
  valueTests(suite);
  uniqueNameTests(suite);
  nameSearchTests(suite);
  changeTests(suite);
  connectionTests(suite);
  problemTests(suite);
}

import type { Database } from "@shoal/database";
import type { KyselyPlugin } from "kysely";

/** Counts the statements of a database, without `begin` and `commit`. */
export function countingStatements(database: Database): { readonly database: Database; count(): number } {
  let count = 0;
  const plugin: KyselyPlugin = {
    transformQuery: ({ node }) => node,
    // Unlike the above, not called for parts of a statement.
    transformResult({ result }) {
      count += 1;
      return Promise.resolve(result);
    },
  };
  return {
    database: { ...database, query: database.query.withPlugin(plugin), pulse: database.pulse.withPlugin(plugin) },
    count: () => count,
  };
}

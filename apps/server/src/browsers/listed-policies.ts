import { type AliasedRawBuilder, sql } from "kysely";

/** In bytes as JSON. A page has a hundred sessions or pools, and each may have 5 MiB of policies. */
const maxListedBytes = 64 * 1024;

/** A JSON column with `chrome_policy` in it, as lists read it: large policies are left out before anything of them is in memory. */
export function withoutLargePolicies<Column extends string, Value>(column: Column): AliasedRawBuilder<Value, Column> {
  const json = sql.ref(column);
  return sql<Value>`case when octet_length((${json} -> 'chrome_policy')::text) > ${maxListedBytes}::int then ${json} - 'chrome_policy' else ${json} end`.as(
    column,
  );
}

import { type AliasedRawBuilder, sql } from "kysely";

/** In bytes of JSON. A page has a hundred rows with up to 5 MiB of policies each. */
const maxListedBytes = 64 * 1024;

export function withoutLargePolicies<Column extends string, Value>(column: Column): AliasedRawBuilder<Value, Column> {
  const json = sql.ref(column);
  return sql<Value>`case when octet_length((${json} -> 'chrome_policy')::text) > ${maxListedBytes}::int then ${json} - 'chrome_policy' else ${json} end`.as(
    column,
  );
}

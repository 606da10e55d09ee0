import type { FastifyInstance } from "fastify";
import { dialects } from "./dialects.ts";
import type { DialectName } from "./kit/dialect.ts";
import { type DialectHost, mountDialect, mountMissingDialect } from "./kit/mount-dialect.ts";

/** Serves the interfaces of other services that are on, and says of the others how to turn them on. */
export function mountDialects(app: FastifyInstance, enabled: readonly DialectName[], host: DialectHost): void {
  for (const dialect of dialects)
    if (enabled.includes(dialect.name)) mountDialect(app, dialect, host);
    else mountMissingDialect(app, dialect);
}

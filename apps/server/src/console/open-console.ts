import type { Database } from "@shoal/database";
import type { KeyAuthenticator, KeyRow } from "../http/auth/access.ts";
import type { ProjectLookup } from "../http/auth/project-lookup.ts";
import type { RequestOrigins } from "../http/request-origin.ts";
import type { ReadCache } from "../storage/read-cache.ts";
import { ConsoleAuthenticator } from "./console-authenticator.ts";
import { ConsoleLinks } from "./console-links.ts";
import { ConsoleSessions } from "./console-sessions.ts";
import type { ConsoleParts } from "./serve-console.ts";

export interface OpenConsole extends ConsoleParts {
  /** Deletes ended sessions and unused links. */
  sweep(): Promise<void>;
}

export function openConsole(parts: {
  readonly database: Pick<Database, "query">;
  readonly keyed: KeyAuthenticator;
  readonly keysById: Pick<ReadCache<KeyRow>, "get">;
  readonly origins: RequestOrigins;
  readonly projects: Pick<ProjectLookup, "find">;
}): OpenConsole {
  const sessions = new ConsoleSessions(parts.database);
  const links = new ConsoleLinks(parts.database);
  return {
    ...parts,
    authenticator: new ConsoleAuthenticator({ ...parts, sessions }),
    links,
    sessions,
    async sweep() {
      await sessions.sweep(Date.now());
      await links.sweep(Date.now());
    },
  };
}

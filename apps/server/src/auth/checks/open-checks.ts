import type { Database } from "@shoal/database";
import type { Log } from "../../log/log.ts";
import type { SessionRules } from "../../sessions/browsers/session-runner.ts";
import type { Sessions } from "../../sessions/browsers/sessions.ts";
import type { ConnectionStore } from "../connections/connection-store.ts";
import type { LoginBrowserParts } from "../logins/login-browser.ts";
import type { Logins } from "../logins/logins.ts";
import { CheckStore } from "./check-store.ts";
import { Checks } from "./checks.ts";
import { ConnectionChecker } from "./connection-checker.ts";

/** Starts the checks of this server. It must be registered. */
export async function openChecks(
  parts: LoginBrowserParts & {
    readonly connections: Pick<ConnectionStore, "find">;
    readonly database: Pick<Database, "onChange" | "query">;
    readonly logins: Pick<Logins, "start">;
    readonly sessions: Pick<Sessions, "room">;
    readonly rules: SessionRules;
    readonly maxBrowsers: () => number;
    readonly serverId: string;
    readonly isDoubtful: () => boolean;
    readonly isDraining: () => boolean;
    readonly log: Log;
  },
): Promise<Checks> {
  const { rules, sessions } = parts;
  const store = new CheckStore(parts.database, parts.serverId);
  await store.releaseAll();
  const checks = new Checks({
    ...parts,
    store,
    checker: new ConnectionChecker(parts),
    rules: {
      get maxBrowsers() {
        return parts.maxBrowsers();
      },
      get maxSessions() {
        return rules.maxSessions;
      },
      limits: rules.limits,
    },
    room: () => sessions.room(),
  });
  checks.start();
  return checks;
}

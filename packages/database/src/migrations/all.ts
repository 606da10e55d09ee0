import type { Migration } from "../migrate.ts";
import { foundation } from "./0001-foundation.ts";
import { projects } from "./0002-projects.ts";
import { auditLogs } from "./0003-audit-logs.ts";
import { proxiesAndExtensions } from "./0004-proxies-and-extensions.ts";
import { browserPools } from "./0005-browser-pools.ts";
import { profileStates } from "./0006-profile-states.ts";
import { replicas } from "./0007-replicas.ts";
import { operations } from "./0008-operations.ts";
import { sessionLimits } from "./0009-session-limits.ts";
import { sessionOptions } from "./0010-session-options.ts";
import { telemetryDestinations } from "./0011-telemetry-destinations.ts";
import { auditExport } from "./0012-audit-export.ts";
import { regions } from "./0013-regions.ts";
import { proxyAuthorities } from "./0014-proxy-authorities.ts";

/** Every migration, oldest first. Those that were released are never changed or removed; a change of the schema is a new one. */
export const migrations: readonly Migration[] = [
  foundation,
  projects,
  auditLogs,
  proxiesAndExtensions,
  browserPools,
  profileStates,
  replicas,
  operations,
  sessionLimits,
  sessionOptions,
  telemetryDestinations,
  auditExport,
  regions,
  proxyAuthorities,
];

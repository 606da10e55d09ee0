import * as apiKeys from "./api-keys.ts";
import * as browserFs from "./browser-fs.ts";
import * as browserTelemetry from "./browser-telemetry.ts";
import * as browserReplays from "./browser-replays.ts";
import * as browserProcess from "./browser-process.ts";
import * as browserPlaywright from "./browser-playwright.ts";
import * as browserLogs from "./browser-logs.ts";
import * as browserComputer from "./browser-computer.ts";
import * as browsers from "./browsers.ts";
import * as profiles from "./profiles.ts";
import * as apps from "./apps.ts";
import * as deployments from "./deployments.ts";
import * as invocations from "./invocations.ts";
import * as credentials from "./credentials.ts";
import * as credentialProviders from "./credential-providers.ts";
import * as managedAuth from "./managed-auth.ts";
import * as proxies from "./proxies.ts";
import * as extensions from "./extensions.ts";
import * as browserPools from "./browser-pools.ts";
import * as projects from "./projects.ts";
import * as legacyProjects from "./legacy-projects.ts";
import * as organization from "./organization.ts";
import * as authContext from "./auth-context.ts";
import * as auditLogs from "./audit-logs.ts";
import * as auditLogDestinations from "./audit-log-destinations.ts";
import * as telemetryDestinations from "./telemetry-destinations.ts";
import * as service from "./service.ts";

/** Every operation of Shoal by its declaration's name. Programs where start-up counts import the operations they call instead. */
export const contract: typeof apiKeys &
  typeof browserFs &
  typeof browserTelemetry &
  typeof browserReplays &
  typeof browserProcess &
  typeof browserPlaywright &
  typeof browserLogs &
  typeof browserComputer &
  typeof browsers &
  typeof profiles &
  typeof apps &
  typeof deployments &
  typeof invocations &
  typeof credentials &
  typeof credentialProviders &
  typeof managedAuth &
  typeof proxies &
  typeof extensions &
  typeof browserPools &
  typeof projects &
  typeof legacyProjects &
  typeof organization &
  typeof authContext &
  typeof auditLogs &
  typeof auditLogDestinations &
  typeof telemetryDestinations &
  typeof service = {
  ...apiKeys,
  ...browserFs,
  ...browserTelemetry,
  ...browserReplays,
  ...browserProcess,
  ...browserPlaywright,
  ...browserLogs,
  ...browserComputer,
  ...browsers,
  ...profiles,
  ...apps,
  ...deployments,
  ...invocations,
  ...credentials,
  ...credentialProviders,
  ...managedAuth,
  ...proxies,
  ...extensions,
  ...browserPools,
  ...projects,
  ...legacyProjects,
  ...organization,
  ...authContext,
  ...auditLogs,
  ...auditLogDestinations,
  ...telemetryDestinations,
  ...service,
};

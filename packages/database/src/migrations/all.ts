import type { Migration } from "kysely/migration";
import { foundation } from "./0001-foundation.ts";
import { credentialSites } from "./0002-credential-sites.ts";
import { keyPolicies } from "./0003-key-policies.ts";
import { appKeyIssuers } from "./0004-app-key-issuers.ts";
import { telemetryDeliveries } from "./0005-telemetry-deliveries.ts";
import { evidenceDefaults } from "./0006-evidence-defaults.ts";
import { vaults } from "./0007-vaults.ts";
import { flows } from "./0008-flows.ts";
import { profileLocation } from "./0009-profile-location.ts";
import { flowRuns } from "./0010-flow-runs.ts";
import { profileConditions } from "./0011-profile-conditions.ts";
import { networkRecordings } from "./0012-network-recordings.ts";
import { schedulesOfFlows } from "./0013-schedules-of-flows.ts";
import { searches } from "./0014-searches.ts";
import { snapshots } from "./0015-snapshots.ts";
import { recordingSeeds } from "./0016-recording-seeds.ts";
import { flowRunPictures } from "./0017-flow-run-pictures.ts";
import { appLogTotals } from "./0018-app-log-totals.ts";

/** Every migration by name; they run in the order of their names. Never change or remove a released one. */
export const migrations: Readonly<Record<string, Migration>> = {
  "0001_foundation": foundation,
  "0002_credential_sites": credentialSites,
  "0003_key_policies": keyPolicies,
  "0004_app_key_issuers": appKeyIssuers,
  "0005_telemetry_deliveries": telemetryDeliveries,
  "0006_evidence_defaults": evidenceDefaults,
  "0007_vaults": vaults,
  "0008_flows": flows,
  "0009_profile_location": profileLocation,
  "0010_flow_runs": flowRuns,
  "0011_profile_conditions": profileConditions,
  "0012_network_recordings": networkRecordings,
  "0013_schedules_of_flows": schedulesOfFlows,
  "0014_searches": searches,
  "0015_snapshots": snapshots,
  "0016_recording_seeds": recordingSeeds,
  "0017_flow_run_pictures": flowRunPictures,
  "0018_app_log_totals": appLogTotals,
};

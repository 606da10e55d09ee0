import type { SettingsInForce } from "../config/settings-in-force.ts";
import type { SessionRules } from "./browsers/session-runner.ts";

export function sessionRulesOf(settings: SettingsInForce): SessionRules {
  return {
    get maxSessions() {
      return settings.inForce.max_sessions;
    },
    limits: {
      get perProject() {
        return settings.inForce.max_sessions_per_project;
      },
      get perOrganization() {
        return settings.inForce.max_sessions_per_organization;
      },
    },
    get idleTimeoutSeconds() {
      return settings.inForce.idle_timeout_seconds;
    },
    get sleepAfterSeconds() {
      return settings.inForce.sleep_after_seconds;
    },
    get defaultTelemetry() {
      return settings.inForce.default_telemetry;
    },
    get defaultRecording() {
      return settings.inForce.default_recording;
    },
    get maxMemoryBytes() {
      const mib = settings.inForce.session_memory_max_mb;
      return mib === 0 ? Infinity : mib * 2 ** 20;
    },
  };
}

import type { SettingsInForce } from "../config/settings-in-force.ts";
import type { SessionRules } from "./browsers/session-runner.ts";

export function sessionRulesOf(settings: SettingsInForce): SessionRules {
  const limits = settings.live<SessionRules["limits"]>({
    perProject: (inForce) => inForce.max_sessions_per_project,
    perOrganization: (inForce) => inForce.max_sessions_per_organization,
  });
  return settings.live<SessionRules>({
    maxSessions: (inForce) => inForce.max_sessions,
    limits: () => limits,
    idleTimeoutSeconds: (inForce) => inForce.idle_timeout_seconds,
    sleepAfterSeconds: (inForce) => inForce.sleep_after_seconds,
    defaultTelemetry: (inForce) => inForce.default_telemetry,
    defaultRecording: (inForce) => inForce.default_recording,
    maxMemoryBytes: ({ session_memory_max_mb: mib }) => (mib === 0 ? Infinity : mib * 2 ** 20),
  });
}

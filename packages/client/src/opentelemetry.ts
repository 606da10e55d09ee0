export { openTelemetryHooks, type OpenTelemetryApi, type TelemetrySpan } from "@shoal/transport/opentelemetry";

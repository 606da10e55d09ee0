export const timestamp = "2026-01-01T00:00:00.000Z";

export const deployment = {
  id: "m3x1p0v2k7c9q5w8z6t4r2yh",
  status: "queued",
  region: "aws.us-east-1a",
  created_at: timestamp,
};

export const invocation = {
  id: "i3x1p0v2k7c9q5w8z6t4r2yh",
  app_name: "shop",
  version: "latest",
  action_name: "buy",
  started_at: timestamp,
  status: "queued",
};

/** A line of a log. @param source - `build`, `stdout` or `stderr`. */
export const log = (message: string, source = "stdout") => ({ event: "log", message, source, timestamp });

export const state = (status: string, more: object = {}) => ({
  event: "deployment_state",
  deployment: { ...deployment, status, ...more },
  timestamp,
});

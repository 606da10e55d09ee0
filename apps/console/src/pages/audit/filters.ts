import type { ListAuditLogs } from "@shoal/schemas";
import * as z from "zod/mini";

export const periods = ["hour", "day", "week", "month"] as const;
export const strategies = [
  "api_key",
  "dashboard",
  "oauth",
  "session_token",
  "live_view",
  "sign_in_page",
  "service",
] as const;
export const strategyLabels = {
  api_key: "API key",
  dashboard: "Console",
  oauth: "Access token",
  session_token: "Session address",
  live_view: "Live view",
  sign_in_page: "Sign-in page",
  service: "Service itself",
} as const;

export const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const;

const optionalText = z.catch(z.optional(z.string()), undefined);

/** In the address. */
export const AuditSearch = z.object({
  tab: z.catch(z.optional(z.enum(["destinations"])), undefined),
  period: z.catch(z.optional(z.enum(periods)), undefined),
  /** End of the period, ISO 8601; absent = now. */
  until: z.catch(z.optional(z.iso.datetime({ offset: true })), undefined),
  method: z.catch(z.optional(z.enum(methods)), undefined),
  strategy: z.catch(z.optional(z.enum(strategies)), undefined),
  service: optionalText,
  search: optionalText,
  entry: optionalText,
});
export type AuditSearch = z.output<typeof AuditSearch>;

const hourMs = 3_600_000;
const periodMs = { hour: hourMs, day: 24 * hourMs, week: 7 * 24 * hourMs, month: 30 * 24 * hourMs } as const;

/** Selects the entries that the page shows and exports. */
export type AuditQuery = Pick<ListAuditLogs, "start" | "end" | "method" | "auth_strategy" | "service" | "search">;

/** @param nowMs - end of a period without `until`. */
export function queryOf(
  { period = "day", until, method, strategy, service, search }: AuditSearch,
  nowMs: number,
): AuditQuery {
  const endMs = until === undefined ? nowMs : Date.parse(until);
  return {
    start: new Date(endMs - periodMs[period]).toISOString(),
    end: new Date(endMs).toISOString(),
    ...(method !== undefined && { method }),
    ...(strategy !== undefined && { auth_strategy: strategy }),
    ...(service !== undefined && { service }),
    ...(search !== undefined && { search }),
  };
}

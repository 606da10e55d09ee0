import type { OperationsOf } from "@shoal/contract";
import type { Handlers } from "@shoal/router";
import type { Access } from "../http/auth/access.ts";
import type { UsageReport } from "./usage-report.ts";

export function usageHandlers(report: UsageReport): Handlers<OperationsOf<"usage">, Access> {
  return {
    listUsage: ({ query, context }) => report.list(context, query),
    exportUsage: ({ query, context }) => report.export(context, query),
  };
}

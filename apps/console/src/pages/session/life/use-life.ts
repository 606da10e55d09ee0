import type { Shoal } from "@shoal/client";
import type { Browser, TelemetryEnvelope } from "@shoal/schemas";
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { replaysQuery } from "../../../api/browser-queries.ts";
import { useCanOperate, useIsAdmin, useSignedIn } from "../../../api/shoal.ts";
import { type LifeEvent, lifeEvents } from "./life-events.ts";

const refreshMs = 5000;
const maxTelemetry = 500;
const maxAudit = 100;
const afterEndMs = 60_000;
/** Longest window of the audit log. */
const windowMs = 30 * 86_400_000;

async function momentsOf(shoal: Shoal, { created_at, session_id }: Browser, signal: AbortSignal) {
  const found: TelemetryEnvelope[] = [];
  const query = { category: ["connection" as const, "system" as const], since: created_at, limit: 100 };
  for await (const event of await shoal.browsers.telemetry.events(session_id, query, { signal })) {
    found.push(event);
    if (found.length >= maxTelemetry) break;
  }
  return found;
}

export interface Life {
  readonly events: readonly LifeEvent[];
  /** A part that could not be read; the others are shown. */
  readonly error: Error | null;
}

/** The life of a session, from everything that the service keeps about it. */
export function useLife(browser: Browser): Life {
  const { session_id: id, created_at, deleted_at } = browser;
  const { shoal, project } = useSignedIn();
  const isAdmin = useIsAdmin();
  const canOperate = useCanOperate();
  const isRunning = deleted_at === undefined;
  const refetchInterval = isRunning && refreshMs;
  const replays = useQuery(replaysQuery(shoal, id));
  const telemetry = useQuery({
    queryKey: ["life-telemetry", id, isRunning],
    queryFn: ({ signal }) => momentsOf(shoal, browser, signal),
    enabled: canOperate,
    refetchInterval,
  });
  const audit = useQuery({
    queryKey: ["life-audit", project?.id, id, isRunning],
    queryFn: async ({ signal }) => {
      const startMs = Date.parse(created_at);
      const endMs = (isRunning ? Date.now() : Date.parse(deleted_at)) + afterEndMs;
      const query = {
        start: created_at,
        end: new Date(Math.min(endMs, startMs + windowMs)).toISOString(),
        search: id,
        service: "browsers",
        limit: maxAudit,
      };
      return (await shoal.auditLogs.list(query, { signal })).items;
    },
    enabled: isAdmin,
    refetchInterval,
  });
  const events = useMemo(
    () =>
      lifeEvents({
        browser,
        replays: replays.data ?? [],
        telemetry: telemetry.data ?? [],
        audit: audit.data ?? [],
      }),
    [browser, replays.data, telemetry.data, audit.data],
  );
  return { events, error: replays.error ?? telemetry.error ?? audit.error };
}

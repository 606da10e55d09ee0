import type { OperationsOf } from "@shoal/contract";
import type { Handlers } from "@shoal/router";
import type { Access } from "../../http/auth/access.ts";
import type { Feature } from "../../host/feature.ts";
import type { Host } from "../../host/host.ts";
import { SnapshotStore } from "./snapshot-store.ts";

/** Keeps states of sessions, from which others start. */
export function snapshotsFeature({ blobs, config, database, secrets }: Host) {
  const snapshots = new SnapshotStore({
    database,
    blobs: blobs("snapshots"),
    secrets,
    retentionDays: config.snapshot_retention_days,
    quota: { maxCount: config.snapshot_max, maxBytes: config.snapshot_max_gib * 2 ** 30 },
  });
  const handlers: Handlers<OperationsOf<"snapshots">, Access> = {
    listSnapshots: ({ query, context }) => snapshots.list(context.projectId, query),
    getSnapshot: ({ params, context }) => snapshots.get(context.projectId, params.id),
    deleteSnapshot: ({ params, context }) => snapshots.delete(context.projectId, params.id),
  };
  return {
    provides: snapshots,
    handlers,
    jobs: [{ name: "old snapshots of sessions", run: () => snapshots.clean() }],
  } satisfies Feature;
}

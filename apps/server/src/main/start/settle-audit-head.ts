import type { AuditChain } from "../../audit/logs/chain.ts";
import { ownNote } from "../../audit/logs/follow.ts";
import type { AuditRecorder } from "../../audit/logs/recorder.ts";
import type { Config } from "../../config/settings.ts";
import type { Log } from "../../log/log.ts";

/** Compares the audit log with the head that this server stored, or accepts a different one if configured. */
export async function settleAuditHead(
  parts: {
    readonly config: Pick<Config, "accept_audit_head" | "public_url">;
    readonly chain: Pick<AuditChain, "acceptHead" | "checkHead">;
    readonly recorder: AuditRecorder;
    readonly log: Log;
  },
  baseUrl: string,
): Promise<void> {
  const { chain, config, log, recorder } = parts;
  if (!config.accept_audit_head) {
    await chain.checkHead();
    return;
  }
  const given = (await chain.acceptHead()) ?? "none";
  log.warn({ head: given }, "the audit log was accepted as it is; the head that this server kept is given up");
  const operation = {
    method: "POST",
    operationId: "auditLogs.acceptHead",
    path: `/audit-logs/accepted-heads/${given}`,
  } as const;
  recorder.note(ownNote(operation, { status: 200, baseUrl: config.public_url ?? baseUrl }));
  await recorder.flush();
}

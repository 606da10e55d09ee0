import type { AuditChain } from "../audit-logs/chain.ts";
import { ownNote } from "../audit-logs/follow.ts";
import type { AuditRecorder } from "../audit-logs/recorder.ts";
import type { Config } from "../config/config.ts";
import type { Log } from "../log.ts";

/** Checks the head of the audit log that this server keeps, or accepts another one where the settings ask for it. */
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
  // The entry names the head that was given up, so that the log explains itself.
  const operation = { method: "POST", operationId: "auditLogs.acceptHead", path: `/audit-logs/accepted-heads/${given}` } as const;
  recorder.note(ownNote(operation, { status: 200, baseUrl: config.public_url ?? baseUrl }));
  await recorder.flush();
}

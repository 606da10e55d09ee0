import { mount } from "@shoal/router/fastify";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Entering } from "../../host/entering.ts";
import type { Feature } from "../../host/feature.ts";
import type { Host } from "../../host/host.ts";
import { AuditLogs } from "./audit-logs.ts";
import { AuditChain } from "./chain.ts";
import { noteOf } from "./follow.ts";
import { auditLogFile, auditLogHandlers } from "./handlers.ts";
import { openHeadWitness } from "./head-witness.ts";
import { AuditRecorder } from "./recorder.ts";

export function auditLogFeature({ cleanup, config, database, dataDir, log, secrets, settings }: Host) {
  const chain = new AuditChain(database, { secrets, witness: openHeadWitness(dataDir.path, secrets, log), log });
  const recorder = new AuditRecorder(chain, log);
  cleanup.add("the audit log", () => recorder.close());
  const auditLogs = new AuditLogs({ database, chain, recorder });
  return {
    provides: { chain, recorder },
    handlers: auditLogHandlers(auditLogs),
    serve(app: FastifyInstance, entering: Entering) {
      mount(app, auditLogFile, ({ query, context }) => auditLogs.exportFile(context.key, query), {
        unknownFields: config.unknown_fields,
        context: (request: FastifyRequest) => entering.enter(request, auditLogFile),
      });
    },
    requestEnded(request: IncomingMessage, response: ServerResponse, durationMs: number) {
      const note = noteOf(request, response, durationMs);
      if (note !== undefined) recorder.note(note);
    },
    jobs: [
      {
        name: "old entries of the audit log",
        run: () => chain.dropOlderThan(settings.inForce.audit_retention_days),
      },
    ],
  } satisfies Feature;
}

import { createId } from "@shoal/primitives";
import type { AuditNote } from "../audit/logs/entry.ts";

export function auditNote(changes: Partial<AuditNote> = {}): AuditNote {
  return {
    id: createId(),
    at: new Date().toISOString(),
    project_id: null,
    auth_strategy: "api_key",
    user_id: "u",
    email: "u@localhost",
    method: "POST",
    path: "/x",
    route: "/x",
    operation: "x.create",
    status: 200,
    duration_ms: 1,
    domain: "localhost",
    client_ip: "127.0.0.1",
    user_agent: "test",
    request_id: "r",
    ...changes,
  };
}

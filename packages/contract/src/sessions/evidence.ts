import { DownloadEvidence, EvidenceKey } from "@shoal/schemas";
import { bytes, defineEndpoint, json } from "../base/endpoint.ts";
import { sessionId } from "../base/session-id.ts";

/** Everything that is recorded of a session, in one signed archive. */
const area = "Evidence";

/** A ZIP archive of the stored data of the session: telemetry, requests as HAR, a trace for Playwright's viewer, outlines, pictures, recordings, downloads, and last a signed `manifest.json` with sizes and hashes. Works while the session runs, with everything until now, and after its end, until the retention of each part ends. The manifest lists missing parts with the reason. Specific to Shoal. */
export const downloadEvidence = defineEndpoint({
  operationId: "browsers.evidence",
  area,
  plane: "control",
  moves: ["read sessions", "read page_content", "read traffic", "read files"],
  scope: ["browsers:use"],
  audited: true,
  method: "GET",
  path: "/browsers/{id}/evidence",
  summary: "Download the evidence of a session.",
  params: sessionId,
  query: DownloadEvidence,
  responses: { 200: bytes("application/zip") },
  errors: [400, 401, 403, 404, 500, 503],
});

/** The public key of the project. It stays the same while the service keeps its `secret_key`. Specific to Shoal. */
export const getEvidenceKey = defineEndpoint({
  operationId: "evidenceKey.get",
  area,
  plane: "control",
  moves: ["read sessions"],
  method: "GET",
  path: "/evidence_key",
  summary: "Show the key that signs evidence.",
  responses: { 200: json(EvidenceKey) },
  errors: [401, 403, 404, 500],
});

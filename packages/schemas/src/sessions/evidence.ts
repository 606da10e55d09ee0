import * as z from "zod/mini";
import { checked, lazyObject } from "../base/schema.ts";
import { Timestamp } from "../base/common.ts";

/** Parts of an evidence bundle. */
export const evidenceParts = ["telemetry", "har", "trace", "outlines", "pictures", "recordings", "downloads"] as const;

/** Input of `browsers.evidence`. */
export interface DownloadEvidence extends z.input<typeof DownloadEvidence> {}
export const DownloadEvidence = lazyObject(() => ({
  /** Parts of the bundle, separated by commas; all when absent. `telemetry`: events as NDJSON. `har`: requests as HAR 1.2. `trace`: a trace for the viewer of Playwright. `outlines`: of pages before and after each action. `pictures`: the last picture and screenshots. `recordings`: videos. `downloads`: their list and files. */
  include: z.optional(checked(z.array(z.enum(evidenceParts)), z.maxLength(20))),
}));

/** The key that signs the manifests of evidence bundles of a project. */
export interface EvidenceKey extends z.output<typeof EvidenceKey> {}
export const EvidenceKey = lazyObject(() => ({
  /** Thumbprint of the public key (RFC 7638). */
  key_id: z.string(),
  /** `Ed25519` */
  algorithm: z.string(),
  /** The 32 bytes of the public key, as base64url. */
  public_key: z.string(),
}));

/** A file of an evidence bundle. */
export interface EvidenceFile extends z.output<typeof EvidenceFile> {}
export const EvidenceFile = lazyObject(() => ({
  /** Its name in the archive. */
  path: z.string(),
  /** Uncompressed size. */
  size_bytes: z.int(),
  /** SHA-256 of the uncompressed content, in hexadecimal. */
  sha256: z.string(),
}));

/** Something that an evidence bundle does not contain. */
export interface EvidenceGap extends z.output<typeof EvidenceGap> {}
export const EvidenceGap = lazyObject(() => ({
  /** A part of the bundle, or a file. */
  what: z.string(),
  /** Why it is missing. */
  reason: z.string(),
}));

/** `manifest.json` of an evidence bundle: its content, signed by `manifest.sig.json`. */
export interface EvidenceManifest extends z.output<typeof EvidenceManifest> {}
export const EvidenceManifest = lazyObject(() => ({
  /** `shoal-evidence/1` */
  format: z.string(),
  /** When the bundle was requested. Later events are not in it. */
  created_at: Timestamp,
  /** Version of the server. */
  server_version: z.string(),
  /** The project of the session. */
  project_id: z.string(),
  /** The session. */
  session: z.object({
    /** Id of the session. */
    session_id: z.string(),
    /** Name of the session; `null` without one. */
    name: z.nullable(z.string()),
    /** Start of the session. */
    created_at: Timestamp,
    /** End of the session; `null` while it runs. */
    ended_at: z.nullable(Timestamp),
    /** Why it ended; `null` while it runs. */
    ended_reason: z.nullable(z.string()),
    /** Categories of telemetry that it captures at the time of the bundle. */
    telemetry: z.array(z.string()),
  }),
  /** All files of the archive but the manifest and its signature, in the order of the archive. */
  files: z.array(EvidenceFile),
  /** Missing parts and files. */
  left_out: z.array(EvidenceGap),
}));

/** `manifest.sig.json` of an evidence bundle. */
export interface EvidenceSignature extends z.output<typeof EvidenceSignature> {}
export const EvidenceSignature = lazyObject(() => ({
  /** Thumbprint of the public key (RFC 7638). */
  key_id: z.string(),
  /** `Ed25519` */
  algorithm: z.string(),
  /** The 32 bytes of the public key, as base64url. */
  public_key: z.string(),
  /** Signature of the line `shoal evidence manifest` and a line feed, followed by the bytes of `manifest.json`; base64url. */
  signature: z.string(),
}));

import { namesOf } from "@shoal/contract/captured";
import type { downloadEvidence, getEvidenceKey } from "@shoal/contract";
import { type Handlers, ServiceError } from "@shoal/router";
import { type EvidenceManifest, evidenceParts } from "@shoal/schemas";
import { version } from "../../config/version.ts";
import type { Feature } from "../../host/feature.ts";
import type { Host } from "../../host/host.ts";
import type { Access } from "../../http/auth/access.ts";
import type { Sessions } from "../browsers/sessions.ts";
import type { SessionView } from "../browsers/running-session.ts";
import { BundlePlaces } from "./bundle-places.ts";
import { type Bundle, streamBundle } from "./bundle.ts";
import { type EvidenceOf, type EvidencePart, type EvidenceStores, evidenceWriters } from "./evidence-parts.ts";
import { EvidenceSigner } from "./evidence-signer.ts";

interface EvidenceNeeds {
  readonly sessions: Pick<Sessions, "get" | "idHere" | "instanceHere">;
  readonly stores: EvidenceStores;
}

/** The stored data of a session, in one signed archive. */
export function evidenceFeature({ config, log, secrets }: Host, { sessions, stores }: EvidenceNeeds) {
  const signer = new EvidenceSigner(secrets);
  const places = new BundlePlaces();
  const handlers: Handlers<
    { downloadEvidence: typeof downloadEvidence; getEvidenceKey: typeof getEvidenceKey },
    Access
  > = {
    getEvidenceKey: ({ context }) => signer.key(context.projectId),
    async downloadEvidence({ context: { projectId }, params, query }) {
      const sessionId = await sessions.idHere(projectId, params.id, "telemetry");
      const view = await sessions.get(projectId, sessionId, true);
      const instance = view.row.ended_at === null ? await instanceOf(sessions, projectId, sessionId) : undefined;
      const at = new Date();
      // So that all parts of the bundle end at the same event, while the session goes on.
      const end = view.row.ended_at === null ? await stores.telemetry.end(sessionId) : undefined;
      const write = async (bundle: Bundle): Promise<void> => {
        const reader = { projectId, signal: bundle.signal };
        const events = { store: stores.telemetry, sessionId, end, reader };
        const retentionDays = config.telemetry_retention_days;
        const captured = namesOf(view.captured);
        const { created_at: createdAt, name, viewport } = view.row;
        await addParts(
          bundle,
          { include: query.include, log },
          {
            ...{ sessionId, projectId, instance, captured, retentionDays, stores, events, at, name },
            startMs: Date.parse(createdAt),
            viewport: viewport ?? usualViewport,
          },
        );
        const manifest = await bundle.addJson("manifest.json", manifestOf(bundle, { at, captured, view }));
        await bundle.addJson("manifest.sig.json", signer.sign(projectId, manifest));
      };
      const stream = places.hold(projectId, () => streamBundle(at, write));
      return { stream, fileName: `${sessionId}-evidence.zip` };
    },
  };
  return { handlers } satisfies Feature;
}

/** If the session sets no viewport. */
const usualViewport = { width: 1920, height: 1080 };

/** `undefined` if the session starts or ends at this moment. */
async function instanceOf(sessions: EvidenceNeeds["sessions"], projectId: string, sessionId: string) {
  try {
    return await sessions.instanceHere(projectId, sessionId);
  } catch (error) {
    if (ServiceError.isInstance(error) && (error.status === 404 || error.status === 409)) return undefined;
    throw error;
  }
}

interface Wanted {
  readonly include: readonly EvidencePart[] | undefined;
  readonly log: Host["log"];
}

async function addParts(bundle: Bundle, { include = evidenceParts, log }: Wanted, of: EvidenceOf): Promise<void> {
  for (const part of evidenceParts) {
    if (!include.includes(part)) {
      bundle.leave(part, "The request did not include it.");
      continue;
    }
    try {
      await evidenceWriters[part](bundle, of);
    } catch (error) {
      bundle.signal.throwIfAborted();
      log.warn({ session_id: of.sessionId, part, err: error }, "a part of an evidence bundle is incomplete");
      bundle.leave(part, "It is incomplete: the service could not read all of it. Download the bundle again.");
    }
  }
}

interface Described {
  readonly at: Date;
  readonly captured: readonly string[];
  readonly view: SessionView;
}

function manifestOf({ files, leftOut }: Bundle, { at, captured, view: { row } }: Described): EvidenceManifest {
  return {
    format: "shoal-evidence/1",
    created_at: at.toISOString(),
    server_version: version,
    project_id: row.project_id,
    session: {
      session_id: row.id,
      name: row.name,
      created_at: new Date(row.created_at).toISOString(),
      ended_at: row.ended_at === null ? null : new Date(row.ended_at).toISOString(),
      ended_reason: row.ended_reason,
      telemetry: [...captured],
    },
    files: [...files],
    left_out: [...leftOut],
  };
}

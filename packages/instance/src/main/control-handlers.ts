import { type Handlers, ServiceError } from "@shoal/router";
import type { Readable } from "node:stream";
import type { SharedContexts } from "./further-sessions/shared-contexts.ts";
import type { ProfileState } from "../browser/profile-state/profile-state.ts";
import type { Refusal } from "../http/replies.ts";
import type { SessionExtensions } from "../operations/extensions/handlers.ts";
import type { PagesArea } from "../operations/pages/handlers.ts";
import type { PageArea } from "../operations/sign-in/handlers.ts";
import type { ReplayArea } from "../operations/replays/handlers.ts";
import type { Telemetry } from "../operations/telemetry/telemetry.ts";
import type { instanceControl } from "../protocol/endpoints.ts";
import type { AssignInstance, ChangeViewport, ViewportChanged } from "../protocol/protocol.ts";
import type { AutomationPause } from "../pause/automation-pause.ts";
import { AssignmentParts } from "./assignment-parts.ts";
import type { AssignedFiles } from "./assignments.ts";
import type { QuickEndpoint } from "./control.ts";

export interface ControlTargets {
  readonly isEnding: () => boolean;
  readonly beginUse: () => () => void;
  readonly settle: () => Promise<unknown>;
  readonly assign: (assign: AssignInstance, files: AssignedFiles) => Promise<Refusal | undefined>;
  readonly changeViewport: (change: ChangeViewport) => Promise<Refusal | ViewportChanged>;
  readonly reloadPolicies: (revision: string) => Promise<Refusal | undefined>;
  readonly loadTelemetry: () => Promise<Telemetry>;
  readonly loadProfileState: () => Promise<ProfileState>;
  readonly loadContexts: () => Promise<Pick<SharedContexts, "open" | "stop">>;
}

interface ControlAreas {
  readonly pause: AutomationPause;
  readonly replays: Pick<ReplayArea, "follow">;
  readonly extensions: Pick<SessionExtensions, "load" | "unpack">;
  readonly frontPage: Pick<PageArea, "handlers">;
  readonly pages: Pick<PagesArea, "offerSecret" | "render">;
}

type ControlHandlers = Handlers<Omit<typeof instanceControl, QuickEndpoint>>;

export function controlHandlers(
  targets: ControlTargets,
  { extensions, frontPage, pages, pause, replays }: ControlAreas,
): ControlHandlers {
  return {
    async assignWithFiles({ body, signal }) {
      await inUse(targets, async () => {
        const parts = new AssignmentParts(body);
        const assign = await parts.assign();
        const unpacked = parts.hasExtensions
          ? await ofPart("extensions", () => extensions.unpack(parts.extensions(), signal))
          : [];
        const profile = parts.profile();
        const refusal = await targets.assign(assign, {
          ...(profile && { loadProfile: profileLoader(targets, profile) }),
          ...(unpacked.length > 0 && { loadExtensions: () => ofPart("extensions", () => extensions.load(unpacked)) }),
        });
        if (refusal !== undefined) throw errorOf(refusal);
      });
    },
    async changeViewport({ body }) {
      const changed = await targets.changeViewport(body);
      if ("status" in changed) throw errorOf(changed);
      return changed;
    },
    async setHandoff({ body: { label, status, ...handoff } }) {
      if (status === "requested" || status === "taken") await pause.begin(handoff);
      else pause.end(handoff.id);
      (await targets.loadTelemetry()).record({
        type: "handoff",
        category: "connection",
        source: { kind: "kernel_api" },
        data: { handoff_id: handoff.id, status, ...(label !== undefined && { label }) },
      });
    },
    async reloadPolicies({ body }) {
      const refusal = await targets.reloadPolicies(body.revision);
      if (refusal !== undefined) throw errorOf(refusal);
    },
    followTelemetry: async ({ query }) => ({ stream: (await targets.loadTelemetry()).lines(query.after) }),
    async selectTelemetry({ body }) {
      const telemetry = await targets.loadTelemetry();
      await (body.final === true ? telemetry.close() : telemetry.select(body.categories));
    },
    async saveProfile() {
      const stream = await inUse(targets, async () => (await targets.loadProfileState()).save());
      stream.once("close", targets.beginUse());
      return { stream };
    },
    async saveProfileAtEnd() {
      const loading = targets.loadProfileState();
      await targets.settle();
      return { stream: await (await loading).saveAtEnd() };
    },
    followReplay: ({ params }) => replays.follow(params.id),
    async openContext({ body, signal }) {
      // The instance itself then has no session, and its service decides when it ends.
      const stream = (await targets.loadContexts()).open(body);
      signal.addEventListener("abort", () => stream.destroy(), { once: true });
      return { stream };
    },
    async stopContext({ params }) {
      await (await targets.loadContexts()).stop(params.id);
    },
    async offerSecret({ body }) {
      pages.offerSecret(body);
    },
    outlinePage: (call) => inUse(targets, async () => frontPage.handlers.outlinePage(call)),
    actOnPage: (call) => inUse(targets, async () => frontPage.handlers.actOnPage(call)),
    settlePage: (call) => inUse(targets, async () => frontPage.handlers.settlePage(call)),
    renderPage: (call) => inUse(targets, async () => pages.render(call)),
    releasePage: frontPage.handlers.releasePage,
  };
}

async function inUse<Result>(targets: ControlTargets, work: () => Promise<Result>): Promise<Result> {
  if (targets.isEnding()) throw new ServiceError(503, "shutting_down", "This session is ending.");
  const finish = targets.beginUse();
  try {
    return await work();
  } finally {
    finish();
  }
}

function profileLoader(targets: ControlTargets, archive: Readable): NonNullable<AssignedFiles["loadProfile"]> {
  return (relaunch) => ofPart("profile", async () => (await targets.loadProfileState()).load(archive, relaunch));
}

/** Names the part in the error, so that the service can blame the right file. */
async function ofPart<Result>(field: "extensions" | "profile", work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!ServiceError.isInstance(error)) throw error;
    const { code, hint, limit, problem, status } = error;
    const located = error.field === undefined ? problem : `${error.field}: ${problem}`;
    throw new ServiceError(status, code, located, { field, limit, hint, cause: error });
  }
}

function errorOf({ status, code, message, field, limit, hint }: Refusal): ServiceError {
  return new ServiceError(status, code, message, { field, limit, hint });
}

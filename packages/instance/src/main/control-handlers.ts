import { anySignal } from "@shoal/primitives";
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
import { replayUntilHandoff, requireNoHandoff } from "./pausable-operations.ts";

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
  readonly pages: Pick<PagesArea, "fillFields" | "onlyPage" | "offerSecret" | "recordedActs" | "render" | "replay">;
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
          ...(assign.opens_tabs === true && {
            prepareTabs: async () => (await targets.loadProfileState()).prepareTabs(),
          }),
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
    saveProfile: ({ query }) =>
      query.source === "checkpoint" ? checkpointOf(targets) : archiveOf(targets, (state) => state.save()),
    saveForFork: () => stateForForks(targets),
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
    readActs: () => pages.recordedActs(),
    onlyPage: (call) => pages.onlyPage(call),
    fillFields: (call) => betweenHandoffs({ pause, targets }, call, (ours) => pages.fillFields(ours)),
    outlinePage: (call) => inUse(targets, async () => frontPage.handlers.outlinePage(call)),
    actOnPage: (call) => inUse(targets, async () => frontPage.handlers.actOnPage(call)),
    settlePage: (call) => inUse(targets, async () => frontPage.handlers.settlePage(call)),
    replayStep: (call) =>
      inUse(targets, () => replayUntilHandoff(pause, call.signal, async (signal) => pages.replay({ ...call, signal }))),
    renderPage: (call) => inUse(targets, async () => pages.render(call)),
    releasePage: frontPage.handlers.releasePage,
  };
}

/** Ends when a person takes the session. @throws {ServiceError} 409 `handoff_active` while a person has it. */
function betweenHandoffs<Call extends { readonly signal: AbortSignal }, Result>(
  { pause, targets }: { readonly pause: ControlAreas["pause"]; readonly targets: ControlTargets },
  call: Call,
  work: (call: Call) => Result | Promise<Result>,
): Promise<Result> {
  return inUse(targets, async () => {
    await requireNoHandoff(pause, call.signal);
    return pause.run(async (stop) => work({ ...call, signal: anySignal([call.signal, stop]) }));
  });
}

/** @throws {ServiceError} 503. */
function refuseEnding(targets: ControlTargets): void {
  if (targets.isEnding()) throw new ServiceError(503, "shutting_down", "This session is ending.");
}

async function inUse<Result>(targets: ControlTargets, work: () => Promise<Result>): Promise<Result> {
  refuseEnding(targets);
  const finish = targets.beginUse();
  try {
    return await work();
  } finally {
    finish();
  }
}

async function archiveOf(
  targets: ControlTargets,
  save: (state: ProfileState) => Promise<Readable>,
): Promise<{ readonly stream: Readable }> {
  const stream = await inUse(targets, async () => save(await targets.loadProfileState()));
  stream.once("close", targets.beginUse());
  return { stream };
}

/** Would restart the idle timeout of each session that saves its changes, for ever. */
async function checkpointOf(targets: ControlTargets): ReturnType<typeof archiveOf> {
  refuseEnding(targets);
  return { stream: await (await targets.loadProfileState()).save() };
}

async function stateForForks(targets: ControlTargets): ReturnType<typeof archiveOf> {
  // First: an archive that nothing reads keeps the lock of the profile.
  const telemetry = await targets.loadTelemetry();
  const archive = await archiveOf(targets, (state) => state.saveForFork());
  telemetry.record({
    type: "session_fork",
    category: "system",
    source: { kind: "kernel_api" },
    data: { mode: "restored", paused_ms: 0 },
  });
  return archive;
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

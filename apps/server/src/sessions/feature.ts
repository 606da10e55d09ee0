import type { Regions } from "../cluster/regions.ts";
import type { Feature } from "../host/feature.ts";
import type { Host } from "../host/host.ts";
import type { ProfileStates } from "../resources/profiles/profile-states.ts";
import type { Profiles } from "../resources/profiles/profiles.ts";
import { browserHandlers, type SessionSigner } from "./browsers/handlers.ts";
import { SessionProfiles } from "./browsers/session-profiles.ts";
import { SessionStore, type StoreObserver } from "./browsers/session-store.ts";
import { Sessions } from "./browsers/sessions.ts";
import type { SessionsParts } from "./browsers/start/sessions-parts.ts";
import { HandoffGate } from "./handoff/handoff-gate.ts";
import { SignInBrowsers } from "./live-view/sign-in-browsers.ts";
import { Lookout } from "../work/lookout.ts";
import { sessionRulesOf } from "./session-rules.ts";

/** For rows of sessions that ended during an outage of the database. */
const lookEveryMs = 60_000;

interface SessionNeeds extends Omit<
  SessionsParts,
  "handoffs" | "log" | "profiles" | "region" | "rules" | "serverId" | "signInBrowsers" | "store"
> {
  readonly profiles: Profiles;
  readonly regions: Regions;
  readonly signer: SessionSigner;
  readonly states: ProfileStates;
  readonly store: SessionStore;
}

/** Ends the sessions that an earlier run of this server left. Call it before the server registers. */
export async function openSessionStore(
  { database, log, serverId }: Host,
  observer: { readonly sessions: StoreObserver | undefined; sessionsEnded(reason: string, count: number): void },
): Promise<SessionStore> {
  const store = new SessionStore(database, observer.sessions);
  const lost = await store.endLost(serverId);
  if (lost > 0) {
    observer.sessionsEnded("instance_lost", lost);
    log.warn({ sessions: lost }, "ended sessions of an earlier run that did not stop properly as instance_lost");
  }
  return store;
}

export function sessionsFeature({ config, database, log, serverId, settings }: Host, needs: SessionNeeds) {
  const rules = sessionRulesOf(settings);
  const gate = new HandoffGate(database);
  const signInBrowsers = new SignInBrowsers({
    find: (projectId, idOrName, includeEnded) => needs.store.find(projectId, idOrName, includeEnded),
    keepTyped: (id) => needs.store.noteTyped(id),
    isHere: (id) => sessions.isHere(id),
  });
  const sessions: Sessions = new Sessions({
    ...needs,
    handoffs: gate,
    signInBrowsers,
    profiles: new SessionProfiles({
      database,
      profiles: needs.profiles,
      states: needs.states,
      checkpointMs: config.profile_checkpoint_seconds * 1000,
      log,
    }),
    serverId,
    region: config.region,
    rules,
    log,
  });
  const lookout = new Lookout({
    everyMs: lookEveryMs,
    look: () => sessions.forgottenRows.look(),
    log,
    problem: "rows of sessions that ended during an outage of the database could not be ended",
  });
  return {
    provides: {
      gate,
      rules,
      sessions,
      store: needs.store,
      signInBrowsers,
    },
    handlers: browserHandlers(sessions, needs.signer, needs.regions),
    changes: {
      projects: (id: string | undefined) => void sessions.projectRules.changed(id),
      // Without an id: the database is back.
      sessions: (id: string | undefined) => {
        if (id === undefined) lookout.look();
      },
    },
    gauges: [
      {
        name: "shoal_draining",
        help: "1 while this server starts no sessions, before it stops.",
        read: () => (sessions.isDraining ? 1 : 0),
      },
      {
        name: "shoal_session_capacity",
        help: "Sessions that this server may run at once (max_sessions).",
        read: () => rules.maxSessions,
      },
    ],
    stop: () => Promise.all([lookout.close(), sessions.close()]),
  } satisfies Feature;
}

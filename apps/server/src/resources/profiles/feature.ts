import type { Feature } from "../../host/feature.ts";
import type { Host } from "../../host/host.ts";
import type { ParsePool } from "../../storage/parsing/parse-pool.ts";
import { profileHandlers, type ProfileSaver } from "./handlers.ts";
import { ProfileStates } from "./profile-states.ts";
import { Profiles } from "./profiles.ts";

/** @param sessions - saves the profile of a running session. */
export function profilesFeature(
  { blobs, config, database, log, secrets }: Host,
  { parsing, sessions }: { readonly parsing: ParsePool; readonly sessions: ProfileSaver },
) {
  const states = new ProfileStates({
    database,
    secrets,
    blobs: blobs("profiles"),
    keepVersions: config.profile_versions,
    maxBytes: config.profile_max_mib * 2 ** 20,
    onChange: (id) => {
      profiles.forget(id);
    },
    log,
  });
  const profiles = new Profiles(database, () => database.isListening(), states);
  return {
    provides: { profiles, states },
    handlers: profileHandlers(profiles, states, sessions, parsing),
    changes: {
      profiles(id: string | undefined) {
        if (id === undefined) profiles.forgetAll();
        else profiles.forget(id);
      },
    },
    jobs: [{ name: "states that belong to no profile", run: () => states.sweep() }],
  } satisfies Feature;
}

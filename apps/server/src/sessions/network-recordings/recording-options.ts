import { needsOwnBrowser } from "@shoal/contract/refusals";
import type { ExchangePlayer, PlacementAbilities } from "@shoal/placement";
import { createId } from "@shoal/primitives";
import { badInput, ServiceError } from "@shoal/router";
import type { BrowserReplay, CreateBrowser } from "@shoal/schemas";
import type * as z from "zod/mini";
import type { NetworkRecordings } from "./network-recordings.ts";

type Request = Pick<z.output<typeof CreateBrowser>, "isolation" | "profile" | "recording" | "replay">;

interface RecordingParts {
  readonly abilities: Pick<PlacementAbilities, "authorities" | "closedNetwork">;
  readonly recordings: Pick<NetworkRecordings, "player">;
  readonly usesSecrets: boolean | undefined;
  readonly signal: AbortSignal;
}

/** What the row of a session says about its recording. */
export interface NetworkOptions {
  /** Id of the recording of its network. */
  readonly network_recording?: string;
  readonly replay?: BrowserReplay;
  /** Of `Math.random`: of the session's own recording, or of the replayed recording. */
  readonly random_seed?: number;
  /** Added to the time of its pages. */
  readonly clock_offset_ms?: number;
}

export interface ChosenRecording {
  readonly options: NetworkOptions;
  readonly player: ExchangePlayer | undefined;
}

/** @throws {ServiceError} 400 where sessions cannot record or replay, 403 without the right to stored values, 404, 409. */
export async function chooseRecording(
  projectId: string,
  request: Request,
  { recordings, signal, ...parts }: RecordingParts,
): Promise<ChosenRecording> {
  refuseRecording(request, parts);
  const { recording, replay } = request;
  const player = replay && (await recordings.player(projectId, replay, signal));
  const seed = recording?.seed ?? player?.seed;
  return {
    options: {
      ...(recording?.network === true && { network_recording: createId() }),
      ...(replay && { replay }),
      ...(seed !== undefined && { random_seed: seed }),
      ...(player?.clockOffsetMs !== undefined && { clock_offset_ms: player.clockOffsetMs }),
    },
    player,
  };
}

/** @throws {ServiceError} 400 for a profile that would get the old cookies of a recording. */
export function refuseSavedReplay(
  profile: { readonly save_changes?: boolean | undefined } | undefined,
  replay: unknown,
): void {
  if (replay !== undefined && profile?.save_changes === true)
    throw badInput("body.profile.save_changes", "true is not available in a session with replay", {
      hint: "Omit it: the profile would get the old cookies of the recording",
    });
}

function refuseRecording(
  { isolation, profile, recording, replay }: Request,
  { abilities: { authorities, closedNetwork }, usesSecrets }: Omit<RecordingParts, "recordings" | "signal">,
): void {
  if (recording?.seed !== undefined && recording.network !== true)
    throw badInput("body.recording.seed", "needs recording.network: true", {
      hint: "Add network: true, or omit the seed",
    });
  const field = recording?.network === true ? "recording" : replay === undefined ? undefined : "replay";
  if (field === undefined) return;
  if (isolation === "context")
    throw ServiceError.of(needsOwnBrowser(field, "the service opens the connections of the whole browser"));
  if (!authorities)
    throw badInput(
      `body.${field}`,
      "browsers of this server cannot trust the session's own certificates: that needs Linux and the program certutil",
      {
        hint: "Install it on the server (Debian: apt-get install libnss3-tools; Fedora: nss-tools) and start the service again",
      },
    );
  if (replay === undefined) return;
  refuseSavedReplay(profile, replay);
  if (usesSecrets !== true)
    throw new ServiceError(403, "forbidden", "needs the right to stored values, because recordings contain cookies", {
      field: "body.replay",
      hint: "Use the key of an administrator, or a key with operation:credentials.use",
    });
  if (replay.on_missing === "fail" && !closedNetwork)
    throw badInput(
      "body.replay.on_missing",
      "fail needs sessions in a sandbox, a container or a pod: sessions of this server are plain processes, whose programs can reach the network without the service",
      { hint: 'Use another placement (`shoal doctor` lists missing parts), or on_missing: "pass"' },
    );
}

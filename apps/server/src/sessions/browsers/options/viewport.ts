import { instanceControl } from "@shoal/instance";
import { callInstance, type Instance, InstanceRefusal } from "@shoal/placement";
import { ServiceError } from "@shoal/router";
import type { BrowserViewport, BrowserViewportUpdate, Replay } from "@shoal/schemas";
import { isReplayId } from "../../replays/replay-files.ts";
import { noAnswer } from "../../instance-plane/no-answer.ts";

const headlessRefreshRate = 60;
/** The encoder needs time to end recordings. */
const timeoutMs = 30_000;

/** By number of pixels, in Hz: the cost of a frame grows with its size. */
const refreshRates = [
  [1280 * 800, 60],
  [1920 * 1200, 25],
] as const;
const largestRefreshRate = 10;

export interface EffectiveViewport {
  readonly width: number;
  readonly height: number;
  readonly refresh_rate?: number;
}

/** Adds the effective refresh rate if the request has a viewport or the session has a screen. */
export function effectiveViewport(
  { width, height, refresh_rate }: BrowserViewport,
  headless: boolean,
): EffectiveViewport {
  if (headless) return { width, height, ...(refresh_rate !== undefined && { refresh_rate: headlessRefreshRate }) };
  const [, usual] = refreshRates.find(([pixels]) => width * height <= pixels) ?? [0, largestRefreshRate];
  return { width, height, refresh_rate: refresh_rate ?? usual };
}

/**
 * @returns the recordings that replaced the running ones, and what each replaced.
 * @throws {ServiceError} 409 while a recording or live view runs, unless `force` is set.
 */
export async function changeViewport(
  instance: Instance,
  viewport: BrowserViewport,
  force: BrowserViewportUpdate["force"],
): Promise<readonly { readonly replay: Replay; readonly continues: string | undefined }[]> {
  try {
    const { continued = [], replays } = await callInstance(instance, instanceControl.changeViewport, {
      body: { viewport, force: force ?? false },
      signal: AbortSignal.timeout(timeoutMs),
    });
    // Their ids name files, and the instance is not trusted.
    return replays
      .map(({ replay_id, started_at }, index) => {
        const continues = continued[index] ?? "";
        const replay = { replay_id, started_at, finished_at: null };
        return { replay, continues: isReplayId(continues) ? continues : undefined };
      })
      .filter(({ replay }) => isReplayId(replay.replay_id));
  } catch (error) {
    if (!(error instanceof InstanceRefusal)) throw noAnswer(error);
    const { code, field, hint, limit, problem, status } = error;
    throw new ServiceError(status, code, problem, { field, limit, hint });
  }
}

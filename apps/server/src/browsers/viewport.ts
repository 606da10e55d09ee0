import { ViewportChanged } from "@shoal/instance";
import { answerText, type Instance } from "@shoal/placement";
import { ServiceError } from "@shoal/router";
import { type BrowserViewport, type BrowserViewportUpdate, ErrorBody, type Replay } from "@shoal/schemas";
import { isReplayId } from "../replays/replay-files.ts";
import { noAnswer } from "./session-errors.ts";

/** Browsers without a window draw so often whatever they are asked for, in Hz. */
const headlessRefreshRate = 60;
/** Ending recordings takes their encoder a moment. */
const timeoutMs = 30_000;

/** Rates of screens up to so many pixels, in Hz: larger ones cost the processor more for each picture. */
const refreshRates = [
  [1280 * 800, 60],
  [1920 * 1200, 25],
] as const;
const largestRefreshRate = 10;

/** A viewport without a word about what it is not. */
export interface EffectiveViewport {
  readonly width: number;
  readonly height: number;
  readonly refresh_rate?: number;
}

/** A viewport as it will be: with the rate that holds where one was asked for, or where the session has a screen. */
export function effectiveViewport({ width, height, refresh_rate }: BrowserViewport, headless: boolean): EffectiveViewport {
  if (headless) return { width, height, ...(refresh_rate !== undefined && { refresh_rate: headlessRefreshRate }) };
  const [, usual] = refreshRates.find(([pixels]) => width * height <= pixels) ?? [0, largestRefreshRate];
  return { width, height, refresh_rate: refresh_rate ?? usual };
}

/**
 * Sizes the pages of a running session.
 *
 * @returns the recordings that have begun where others had to end.
 * @throws {ServiceError} 409 while a recording runs or somebody watches, unless it is forced.
 */
export async function changeViewport(
  instance: Instance,
  viewport: BrowserViewport,
  force: BrowserViewportUpdate["force"],
): Promise<readonly Replay[]> {
  let said: string;
  let status: number | undefined;
  try {
    const answer = await instance.request(
      { method: "POST", path: "/_instance/viewport", headers: { "content-type": "application/json" }, signal: AbortSignal.timeout(timeoutMs) },
      JSON.stringify({ viewport, force: force ?? false }),
    );
    status = answer.statusCode;
    said = await answerText(answer);
  } catch (error) {
    throw noAnswer(error);
  }
  const parsed: unknown = JSON.parse(said);
  // Their ids name files, and what runs in a box is not trusted.
  if (status === 200)
    return ViewportChanged.parse(parsed)
      .replays.filter(({ replay_id }) => isReplayId(replay_id))
      .map(({ replay_id, started_at }) => ({ replay_id, started_at, finished_at: null }));
  const refusal = ErrorBody.safeParse(parsed);
  throw refusal.success
    ? new ServiceError(status ?? 500, refusal.data.code, refusal.data.message)
    : new ServiceError(500, "internal_error", `The instance answered ${String(status)}.`);
}

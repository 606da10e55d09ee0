import type { LoginPage } from "@shoal/login";
import { FrontPage, type Instance } from "@shoal/placement";
import { createId } from "@shoal/primitives";
import { ServiceError } from "@shoal/router";
import type { BrowserTelemetryRequest } from "@shoal/schemas";
import { setTimeout as delay } from "node:timers/promises";
import { RegionElsewhere } from "../../cluster/elsewhere.ts";
import type { Log } from "../../log/log.ts";
import type { Sessions } from "../../sessions/browsers/sessions.ts";
import type { ReplayStore } from "../../sessions/replays/replay-store.ts";
import { startRecording } from "../../sessions/replays/start-recording.ts";
import type { ParsePool } from "../../storage/parsing/parse-pool.ts";
import type { ConnectionRow } from "../connections/connection-row.ts";

export interface LoginBrowserParts {
  readonly sessions: Pick<Sessions, "create" | "delete" | "endSaving" | "instanceHere">;
  readonly replays: Pick<ReplayStore, "admit" | "keep">;
  /** Outlines of instances are hostile. */
  readonly parsing: Pick<ParsePool, "run">;
  /** Whether this host has a full Chromium, which `stealth` needs. */
  readonly canHide: boolean;
  readonly log: Log;
}

/** The part of a connection that its browser depends on. */
export type BrowserOfConnection = Pick<
  ConnectionRow,
  "browser_telemetry" | "profile_id" | "project_id" | "proxy_id" | "proxy_mode" | "record_session" | "stealth"
>;

/** Another browser that writes to the profile may end within this time. */
const profileWaitMs = 60_000;
const profileLookMs = 1_000;

/** A session with the profile of a connection. The profile stays as it was, unless {@link LoginBrowser.endSaving} ends it. */
export class LoginBrowser {
  readonly sessionId: string;
  readonly replayId: string | undefined;
  readonly capturesTelemetry: boolean;
  /** The browser has ended. */
  readonly ended: Promise<unknown>;
  readonly #parts: LoginBrowserParts;
  readonly #projectId: string;
  readonly #instance: Instance;

  private constructor(
    parts: LoginBrowserParts,
    found: {
      readonly sessionId: string;
      readonly projectId: string;
      readonly replayId: string | undefined;
      readonly capturesTelemetry: boolean;
      readonly instance: Instance;
    },
  ) {
    this.#parts = parts;
    this.#projectId = found.projectId;
    this.#instance = found.instance;
    this.sessionId = found.sessionId;
    this.replayId = found.replayId;
    this.capturesTelemetry = found.capturesTelemetry;
    this.ended = found.instance.ended;
  }

  /**
   * @param maxSeconds - after which the session ends in any case.
   * @param waitsForProfile - for up to a minute while another browser writes to the profile.
   * @throws {ServiceError} as creating a session does.
   */
  static async open(
    parts: LoginBrowserParts,
    connection: BrowserOfConnection,
    {
      maxSeconds,
      signal,
      signsIn,
      waitsForProfile,
    }: {
      readonly maxSeconds: number;
      readonly signal: AbortSignal;
      /** Values are typed in it. */
      readonly signsIn: boolean;
      readonly waitsForProfile: boolean;
    },
  ): Promise<LoginBrowser> {
    const { project_id: projectId } = connection;
    const telemetry = connection.browser_telemetry as BrowserTelemetryRequest | null;
    const create = () => createSession(parts, { connection, telemetry, maxSeconds, signal, signsIn });
    const sessionId = await (waitsForProfile ? whileProfileIsBusy(create, signal) : create());
    try {
      const instance = await parts.sessions.instanceHere(projectId, sessionId);
      const session = { id: sessionId, projectId };
      const replayId = connection.record_session
        ? await startRecording(
            parts.replays,
            { session, instance },
            { body: { record_audio: false }, requestId: createId() },
          )
        : undefined;
      return new LoginBrowser(parts, {
        sessionId,
        projectId,
        replayId,
        capturesTelemetry: telemetry !== null,
        instance,
      });
    } catch (error) {
      await endSession(parts, projectId, sessionId);
      throw error;
    }
  }

  page(signal: AbortSignal): LoginPage {
    const page = new FrontPage(this.#instance, signal);
    return {
      act: (act) => page.act(act),
      settle: (wishes) => page.settle(wishes),
      read: async (status) => {
        const input = { text: await page.outlineText(), status };
        return this.#parts.parsing.run("signInPage", input, { owner: this.#projectId, signal });
      },
    };
  }

  /** @returns whether the profile was saved. */
  endSaving(): Promise<boolean> {
    return this.#parts.sessions.endSaving(this.sessionId);
  }

  /** Leaves the profile as it was. Never rejects. */
  end(): Promise<void> {
    return endSession(this.#parts, this.#projectId, this.sessionId);
  }
}

async function createSession(
  { canHide, sessions }: LoginBrowserParts,
  {
    connection,
    maxSeconds,
    signal,
    signsIn,
    telemetry,
  }: {
    readonly connection: BrowserOfConnection;
    readonly maxSeconds: number;
    readonly signal: AbortSignal;
    readonly signsIn: boolean;
    readonly telemetry: BrowserTelemetryRequest | null;
  },
): Promise<string> {
  const { profile_id, project_id, proxy_id, proxy_mode, stealth } = connection;
  // Without a default proxy, both modes mean the same.
  const proxy = proxy_id === null ? proxy_mode !== null && { mode: "direct" as const } : { id: proxy_id };
  const view = await sessions.create(
    project_id,
    {
      profile: { id: profile_id, save_changes: true },
      stealth: stealth ?? canHide,
      // A person may take longer than the usual timeout of an idle session.
      timeout_seconds: maxSeconds,
      max_duration_seconds: maxSeconds,
      ...(proxy !== false && { proxy }),
      ...(telemetry && { telemetry }),
    },
    signal,
    { savesAtEnd: false, signsIn },
  );
  if (view instanceof RegionElsewhere) throw new Error("A session without a region starts here.");
  return view.row.id;
}

async function whileProfileIsBusy(create: () => Promise<string>, signal: AbortSignal): Promise<string> {
  const deadline = performance.now() + profileWaitMs;
  for (;;) {
    try {
      return await create();
    } catch (error) {
      const isBusy = ServiceError.isInstance(error) && error.status === 409;
      if (!isBusy || performance.now() > deadline) throw error;
      await delay(profileLookMs, undefined, { signal });
    }
  }
}

async function endSession(
  { log, sessions }: Pick<LoginBrowserParts, "log" | "sessions">,
  projectId: string,
  sessionId: string,
): Promise<void> {
  try {
    await sessions.delete(projectId, sessionId, { type: "login" });
  } catch (error) {
    // It has ended already.
    if (!ServiceError.isInstance(error) || error.status !== 404)
      log.warn({ session_id: sessionId, err: error }, "the browser of a login could not be ended");
  }
}
